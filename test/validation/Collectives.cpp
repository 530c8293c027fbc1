// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/validation/Collectives.h"

#include <algorithm>
#include <cmath>

namespace wsc::validation {

std::vector<int32_t> equalLevels(int32_t count, int32_t levels) {
  std::vector<int32_t> sizes;
  for (int32_t left = count; levels > 0; --levels) {
    int32_t size = levels == 1 ? left : int32_t(std::lround(std::pow(double(left), 1.0 / levels)));
    size = std::max(size, 1);
    sizes.push_back(size);
    left = (left + size - 1) / size;
  }
  return sizes;
}

LineReduce::LineReduce(Line line, std::vector<int32_t> sizes, uint8_t colour)
    : line(line), sizes(std::move(sizes)), first(colour) {}

// Neighbours in a group need two colours in turn; a group of two has one sender.
static int32_t coloursOf(int32_t size) { return size > 2 ? 2 : 1; }

int32_t LineReduce::colours() const {
  int32_t colours = 0;
  for (int32_t size : sizes)
    colours += coloursOf(size);
  return colours;
}

LineReduce::Role LineReduce::roleOf(int32_t level, int32_t member) const {
  int64_t unit = 1;
  int32_t colour = first;
  for (int32_t l = 0; l < level; ++l) {
    unit *= sizes[size_t(l)];
    colour += coloursOf(sizes[size_t(l)]);
  }
  Role role;
  if (member % unit != 0)
    return role;
  const int64_t size = sizes[size_t(level)], place = member / unit % size, head = member - place * unit;
  const int64_t members = std::min(size, (line.count - head + unit - 1) / unit);
  role.takesPart = true;
  role.receives = place + 1 < members;
  role.sends = place > 0;
  const int32_t parity = coloursOf(int32_t(size));
  role.out = uint8_t(colour + place % parity);
  role.in = uint8_t(colour + (place + 1) % parity);
  role.target = int32_t(member - unit);
  return role;
}

bool LineReduce::level(int32_t level, int32_t member, Core &core, testing::ThreadBuilder &thread, const Op &block,
                       int64_t elements) const {
  const Role role = roleOf(level, member);
  if (role.receives && role.sends)
    thread.op(Opcode::Add, core.output(role.out), core.input(role.in), block, {Affine(elements)});
  else if (role.sends)
    thread.move(core.output(role.out), block, {Affine(elements)});
  else if (role.receives)
    thread.op(Opcode::Add, block, core.input(role.in), block, {Affine(elements)});
  return role.takesPart && !role.sends;
}

void LineReduce::program(int32_t member, Core &core, testing::ThreadBuilder &thread, const Op &block,
                         int64_t elements) const {
  for (int32_t l = 0; l < levels(); ++l)
    if (!level(l, member, core, thread, block, elements))
      return;
}

void LineReduce::routes(Mesh &mesh) const {
  for (int32_t l = 0; l < levels(); ++l)
    for (int32_t member = 0; member < line.count; ++member)
      if (const Role role = roleOf(l, member); role.sends)
        mesh.path(role.out, line.at(member), line.at(role.target));
}

LineAllReduce::LineAllReduce(int32_t row, int32_t cols, int32_t levels, uint8_t colour)
    : row(row), cols(cols), middle(levels == 0 ? 0 : cols / 2),
      east({row, middle, 1, cols - middle}, equalLevels(cols - middle, std::max(levels, 1)), colour),
      west({row, middle, -1, middle + 1}, equalLevels(middle + 1, std::max(levels, 1)),
           uint8_t(colour + east.colours())),
      back(uint8_t(colour + east.colours() + west.colours())) {}

void LineAllReduce::program(int32_t col, Core &core, testing::ThreadBuilder &thread, const Op &block,
                            int64_t elements) const {
  if (col == middle) {
    for (int32_t l = 0; l < std::max(east.levels(), west.levels()); ++l) {
      east.level(l, 0, core, thread, block, elements);
      west.level(l, 0, core, thread, block, elements);
    }
    if (cols > 1)
      thread.move(core.output(back), block, {Affine(elements)});
    return;
  }
  if (col > middle)
    east.program(col - middle, core, thread, block, elements);
  else
    west.program(middle - col, core, thread, block, elements);
  thread.move(block, core.input(back), {Affine(elements)});
}

void LineAllReduce::routes(Mesh &mesh) const {
  east.routes(mesh);
  west.routes(mesh);
  if (middle + 1 < cols)
    mesh.path(back, {row, middle}, {row, cols - 1}, true);
  if (middle > 0)
    mesh.path(back, {row, middle}, {row, 0}, true);
}

} // namespace wsc::validation
