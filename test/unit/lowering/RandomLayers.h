// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of one random layer each, as text, family by family: shapes of up to four small dimensions, every element
// type the layer takes, every kind and attribute.
#pragma once

#include <functional>
#include <ostream>
#include <random>
#include <string>
#include <vector>

namespace wsc::test {

struct LayerFamily {
  std::string name;
  std::function<std::string(std::mt19937_64 &)> make;
};
inline void PrintTo(const LayerFamily &family, std::ostream *out) { *out << family.name; }

const std::vector<LayerFamily> &layerFamilies();

} // namespace wsc::test
