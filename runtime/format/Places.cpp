// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/format/Places.h"

#include "absl/strings/str_cat.h"

#include <charconv>
#include <string>
#include <string_view>
#include <utility>

namespace wsc::format {

namespace {

using Shape = std::array<Lattice::Dim, kMaxDims>;

// A name that ends with a dot and a number, and the number; else the name and -1.
std::pair<std::string_view, int32_t> splitName(std::string_view name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos)
    return {name, -1};
  const std::string_view digits = name.substr(dot + 1);
  int32_t number = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || number < 0 || std::to_string(number) != digits)
    return {name, -1};
  return {name.substr(0, dot), number};
}

// Dimensions up to the last that is not 1.
void writeShape(const Shape &shape, PackTable &shapes, PackWriter &to) {
  size_t count = kMaxDims;
  while (count > 0 && shape[count - 1] == Lattice::Dim())
    --count;
  PackWriter content;
  content.number(count);
  for (size_t d = 0; d < count; ++d) {
    content.signedNumber(shape[d].count);
    content.signedNumber(shape[d].rowStep);
    content.signedNumber(shape[d].colStep);
  }
  shapes.add(to, content);
}

Shape readShape(PackReader &from) {
  Shape shape;
  const uint64_t count = from.number();
  if (count > kMaxDims) {
    from.fail();
    return shape;
  }
  for (size_t d = 0; d < count; ++d) {
    shape[d].count = from.as<int32_t>();
    shape[d].rowStep = from.as<int32_t>();
    shape[d].colStep = from.as<int32_t>();
  }
  return shape;
}

// A place as steps from the one before.
void writePlace(const Lattice &place, Lattice &before, PackTable &shapes, PackWriter &to) {
  to.signedNumber(int64_t(place.row) - before.row);
  to.signedNumber(int64_t(place.col) - before.col);
  writeShape(place.dims, shapes, to);
  before = place;
}

void readPlace(PackReader &from, std::vector<Shape> &shapes, Lattice &place) {
  place.row = from.after(place.row);
  place.col = from.after(place.col);
  place.dims = from.entry(shapes, [&] { return readShape(from); });
}

} // namespace

std::vector<uint8_t> packRoles(const Configuration &configuration, const CommonParts &parts) {
  PackWriter to;
  PackTable names, shapes;
  Lattice before;
  for (size_t r = 0; r < configuration.roles.size(); ++r) {
    const Role &role = configuration.roles[r];
    const auto [name, number] = splitName(role.name);
    PackWriter content;
    content.text(name);
    names.add(to, content);
    to.number(uint64_t(number + int64_t(1)));
    to.signedNumber(role.kernel);
    writePlace(role.cores, before, shapes, to);
    to.number(parts.roles[r].memory);
    to.number(parts.roles[r].connections);
    to.number(parts.roles[r].program);
  }
  return std::move(to.bytes);
}

std::vector<uint8_t> packRouters(const Configuration &configuration) {
  PackWriter to;
  PackTable shapes, positions;
  Lattice before;
  for (const RouterRole &router : configuration.routers) {
    writePlace(router.routers, before, shapes, to);
    to.number(router.colour);
    to.signedNumber(router.net);
    PackWriter content;
    content.number(router.positions.size());
    for (const SwitchPosition &position : router.positions) {
      content.number(uint8_t(position.input));
      content.number(position.outputs);
    }
    positions.add(to, content);
  }
  return std::move(to.bytes);
}

bool RoleReader::next(PlacedRole &role) {
  if (reader.atEnd())
    return false;
  role.name = reader.entry(names, [&] { return reader.text(); });
  if (const auto number = reader.as<uint32_t>(); number > 0)
    absl::StrAppend(&role.name, ".", number - 1);
  role.kernel = reader.as<int32_t>();
  readPlace(reader, shapes, role.cores);
  role.memory = reader.as<uint32_t>();
  role.connections = reader.as<uint32_t>();
  role.program = reader.as<uint32_t>();
  return reader.sound;
}

bool RouterReader::next(RouterRole &router) {
  if (reader.atEnd())
    return false;
  readPlace(reader, shapes, router.routers);
  router.colour = reader.as<uint8_t>();
  router.net = reader.as<int32_t>();
  router.positions = reader.entry(positions, [&] {
    std::vector<SwitchPosition> read;
    const uint64_t count = reader.number();
    for (uint64_t i = 0; i < count && reader.sound; ++i) {
      const auto input = Port(reader.as<uint8_t>());
      read.push_back({input, reader.as<uint8_t>()});
    }
    return read;
  });
  return reader.sound;
}

} // namespace wsc::format
