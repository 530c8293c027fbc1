// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layouts and windows; see Layout.h.
#include "compiler/import/tf/ops/Layout.h"
#include "absl/strings/str_cat.h"
#include "dialects/nn/Shape.h"
#include <algorithm>

namespace wsc::import::tf {

bool readChannelsLast(NodeContext &node, int64_t rank) {
  std::string format = node.stringAttribute("data_format", rank == 5 ? "NDHWC" : "NHWC");
  if (format == "NHWC" || format == "NDHWC" || format == "NWC")
    return true;
  if (format != "NCHW" && format != "NCDHW" && format != "NCW")
    node.unsupported(absl::StrCat("data_format '", format, "' is not supported; NHWC, NCHW, NDHWC and NCDHW are"));
  return false;
}

bool readChannelsLastOrJs(NodeContext &node, int64_t rank) {
  const bool isLast = readChannelsLast(node, rank);
  return isLast || node.machine.likeTensorFlowJs();
}

Expression toChannelsFirst(const Expression &x, bool channelsLast) {
  if (!channelsLast || x.layers().failed())
    return x;
  llvm::SmallVector<int64_t> order{0, x.rank() - 1};
  for (int64_t d = 1; d < x.rank() - 1; ++d)
    order.push_back(d);
  return x.transpose(order);
}

Expression fromChannelsFirst(const Expression &y, bool channelsLast) {
  if (!channelsLast || y.layers().failed())
    return y;
  llvm::SmallVector<int64_t> order{0};
  for (int64_t d = 2; d < y.rank(); ++d)
    order.push_back(d);
  order.push_back(1);
  return y.transpose(order);
}

llvm::SmallVector<int64_t> toChannelsFirst(llvm::ArrayRef<int64_t> extents, bool channelsLast) {
  llvm::SmallVector<int64_t> first(extents);
  if (channelsLast && extents.size() > 2)
    std::rotate(first.begin() + 1, first.end() - 1, first.end());
  return first;
}

std::vector<int64_t> readSpatial(NodeContext &node, const char *name, int64_t rank, bool channelsLast,
                                 int64_t otherwise) {
  std::vector<int64_t> numbers = node.intsAttribute(name);
  if (numbers.empty())
    numbers.assign(rank, otherwise);
  if (static_cast<int64_t>(numbers.size()) != rank) {
    node.fail(absl::StrCat("attribute '", name, "' needs ", rank, " numbers, found ", numbers.size()));
    return {};
  }
  llvm::SmallVector<int64_t> first = toChannelsFirst(numbers, channelsLast);
  for (int64_t number : first)
    if (number < 1 || number >= (int64_t{1} << 31))
      node.fail(absl::StrCat("attribute '", name, "' holds ", number, ", which is outside [1, 2^31)"));
  if ((first[0] != 1 || first[1] != 1) && !node.machine.likeTensorFlowJs()) // which passes over them, too
    node.unsupported(absl::StrCat("attribute '", name, "' ", nn::formatShape(numbers),
                                  " steps over batch or channels, which is not supported"));
  return {first.begin() + 2, first.end()};
}

SpatialWindow readWindow(NodeContext &node, llvm::ArrayRef<int64_t> input, std::vector<int64_t> kernel,
                         bool channelsLast) {
  const size_t rank = input.size();
  const int64_t all = static_cast<int64_t>(rank) + 2;
  std::vector<int64_t> strides = readSpatial(node, "strides", all, channelsLast, 1);
  std::vector<int64_t> dilations = readSpatial(node, "dilations", all, channelsLast, 1);
  std::string padding = node.stringAttribute("padding", "VALID");
  std::vector<int64_t> pads = node.intsAttribute("explicit_paddings");
  SpatialWindow result;
  if (padding != "SAME" && padding != "VALID" && padding != "EXPLICIT")
    node.fail(absl::StrCat("padding '", padding, "' is none of SAME, VALID, EXPLICIT"));
  if (padding == "EXPLICIT" && pads.size() != 2 * static_cast<size_t>(all))
    node.fail(absl::StrCat("attribute 'explicit_paddings' needs ", 2 * all, " numbers, found ", pads.size()));
  if (node.failed())
    return result;
  result.overhang.assign(rank, 0);
  result.window.pads.assign(2 * rank, 0);
  for (size_t d = 0; d < rank; ++d) {
    const int64_t span = (kernel[d] - 1) * dilations[d] + 1;
    int64_t &before = result.window.pads[d], &after = result.window.pads[rank + d];
    if (padding == "SAME") {
      const int64_t output = (input[d] + strides[d] - 1) / strides[d];
      const int64_t total = std::max<int64_t>((output - 1) * strides[d] + span - input[d], 0);
      before = total / 2;
      after = total - before;
    } else if (padding == "EXPLICIT") {
      const size_t axis = channelsLast ? d + 1 : d + 2;
      before = pads[2 * axis];
      after = pads[2 * axis + 1];
      if (before < 0 || after < 0 || before >= (int64_t{1} << 31) || after >= (int64_t{1} << 31))
        node.fail(absl::StrCat("explicit_paddings hold ", before, " and ", after, ", which are outside [0, 2^31)"));
    }
  }
  result.kernel = std::move(kernel);
  result.window.strides.assign(strides.begin(), strides.end());
  result.window.dilations.assign(dilations.begin(), dilations.end());
  return result;
}

std::vector<int64_t> outputExtents(const SpatialWindow &window, llvm::ArrayRef<int64_t> input) {
  std::vector<int64_t> extents;
  const size_t rank = input.size();
  for (size_t d = 0; d < rank; ++d)
    extents.push_back(nn::windowOutputExtent(input[d], window.kernel[d], window.window.strides[d],
                                             window.window.dilations[d], window.window.pads[d],
                                             window.window.pads[rank + d])
                          .value_or(0));
  return extents;
}

Expression filterFirst(const Expression &filter) {
  if (filter.layers().failed())
    return filter;
  llvm::SmallVector<int64_t> order{filter.rank() - 1, filter.rank() - 2};
  for (int64_t d = 0; d < filter.rank() - 2; ++d)
    order.push_back(d);
  return filter.transpose(order);
}

Expression filterLast(const Expression &weight) {
  if (weight.layers().failed())
    return weight;
  llvm::SmallVector<int64_t> order;
  for (int64_t d = 2; d < weight.rank(); ++d)
    order.push_back(d);
  order.append({1, 0});
  return weight.transpose(order);
}

} // namespace wsc::import::tf
