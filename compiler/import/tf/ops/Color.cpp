// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Colours of images [..., H, W, 3]: contrast, and hue, saturation and value in [0, 1].
#include "absl/strings/str_cat.h"
#include "compiler/import/tf/Registry.h"
#include "dialects/nn/Shape.h"

namespace wsc::import::tf {
namespace {

struct Color {
  Expression hue, saturation, value;
};

bool hasThreeChannels(NodeContext &node, const Expression &x) {
  if (!node.failed() && (x.rank() < 1 || x.shape().back() != 3))
    node.fail(absl::StrCat("needs colours of 3 channels, found ", nn::formatShape(x.shape())));
  return !node.failed();
}

Color toColor(const Expression &x) {
  const int64_t last = x.rank() - 1;
  Expression r = x.slice(last, 0, 1), g = x.slice(last, 1, 1), b = x.slice(last, 2, 1);
  Expression value = maxOver(x, {last}), range = value - minOver(x, {last});
  Expression isGrey = lessEqual(range, 0), norm = 1.0 / 6 / select(isGrey, 1, range);
  Expression hue = select(equal(r, value), norm * (g - b),
                          select(equal(g, value), norm * (b - r) + 2.0 / 6, norm * (r - g) + 4.0 / 6));
  hue = select(isGrey, 0, hue);
  return {select(less(hue, 0), hue + 1, hue), select(less(0, value), range / select(less(0, value), value, 1), 0),
          value};
}

Expression fromColor(const Color &color) {
  Expression turn = color.hue * 6;
  auto part = [](const Expression &x) { return minimum(maximum(x, 0), 1); };
  Expression channels =
      concat({part(abs(turn - 3) - 1), part(2 - abs(turn - 2)), part(2 - abs(turn - 4))}, color.hue.rank() - 1);
  return (1 - color.saturation + color.saturation * channels) * color.value;
}

void rgbToHsv(NodeContext &node) {
  Expression x = node.in(0);
  if (!hasThreeChannels(node, x))
    return;
  Color color = toColor(x);
  node.setResult(concat({color.hue, color.saturation, color.value}, x.rank() - 1));
}

void hsvToRgb(NodeContext &node) {
  Expression x = node.in(0);
  if (!hasThreeChannels(node, x))
    return;
  const int64_t last = x.rank() - 1;
  node.setResult(fromColor({x.slice(last, 0, 1), x.slice(last, 1, 1), x.slice(last, 2, 1)}));
}

/// The hue turned on by a part of the circle.
void adjustHue(NodeContext &node) {
  Expression x = node.in(0), delta = node.in(1);
  if (!hasThreeChannels(node, x))
    return;
  Color color = toColor(x);
  Expression hue = color.hue + delta;
  color.hue = hue - floor(hue);
  node.setResult(fromColor(color));
}

void adjustSaturation(NodeContext &node) {
  Expression x = node.in(0), scale = node.in(1);
  if (!hasThreeChannels(node, x))
    return;
  Color color = toColor(x);
  color.saturation = minimum(maximum(color.saturation * scale, 0), 1);
  node.setResult(fromColor(color));
}

/// Differences from the mean of each image and channel, times a factor.
void adjustContrast(NodeContext &node) {
  Expression x = node.in(0), factor = node.in(1);
  if (node.failed())
    return;
  if (x.rank() < 3)
    return node.fail(absl::StrCat("needs images [..., H, W, C], found ", nn::formatShape(x.shape())));
  Expression mean = meanOver(x, {x.rank() - 3, x.rank() - 2});
  node.setResult((x - mean) * factor + mean);
}

} // namespace

static const Operator table[] = {
    {"RGBToHSV", 1, 1, rgbToHsv},
    {"HSVToRGB", 1, 1, hsvToRgb},
    {"AdjustHue", 2, 2, adjustHue},
    {"AdjustSaturation", 2, 2, adjustSaturation},
    {"AdjustContrastv2", 2, 2, adjustContrast},
};
llvm::ArrayRef<Operator> colorOperators() { return table; }

} // namespace wsc::import::tf
