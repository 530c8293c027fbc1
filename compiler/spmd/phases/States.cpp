// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/phases/States.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace wsc::spmd {

using namespace format;

int32_t StateTable::find(const std::string &name) const {
  for (size_t v = 0; v < variables.size(); ++v)
    if (variables[v].tensor.name == name)
      return int32_t(v);
  return -1;
}

absl::StatusOr<StateTable> StateTable::create(const std::vector<Network> &networks, const Rectangle &rectangle,
                                              ConstantTable &constants) {
  StateTable table;
  for (const Network &network : networks)
    for (const State &state : network.states) {
      if (const int32_t known = table.find(state.name); known >= 0) {
        const TensorType &other = table.variables[size_t(known)].tensor;
        if (other.type != state.type || other.shape != state.shape)
          return absl::InvalidArgumentError(
              absl::StrCat("variable ", state.name, " has one type in one entry and another in ", network.name));
        continue;
      }
      StateVariable variable;
      variable.tensor = {state.name, state.type, state.shape};
      const int64_t elements = variable.tensor.elements();
      const Sharding flat = flatSharding(rectangle, elements, granuleOf(state.type));
      if (state.initial.bytes > 0 || state.initial.inlineBytes) {
        variable.initialSection = int32_t(constants.sections.size());
        emit::SectionRecipe recipe;
        recipe.name = absl::StrCat(state.name, " initial");
        recipe.type = state.type;
        recipe.path = state.initial.path;
        recipe.sourceOffset = state.initial.offset;
        recipe.sourceBytes = state.initial.bytes;
        recipe.inlineBytes = state.initial.inlineBytes;
        recipe.extents = {elements};
        recipe.strides = {1};
        constants.sections.push_back(std::move(recipe));
      }
      Resident resident;
      resident.name = state.name;
      resident.type = state.type;
      resident.cores.dims[2] = {rectangle.rows, rectangle.rows > 1 ? 1 : 0, 0};
      resident.cores.dims[3] = {rectangle.cols, 0, rectangle.cols > 1 ? 1 : 0};
      resident.bytes = flat.localElements() * elementBytes(state.type);
      resident.state = int32_t(table.variables.size());
      resident.stateOffset.perDim[2] = rectangle.rows > 1 ? flat.localElements() * rectangle.cols : 0;
      resident.stateOffset.perDim[3] = rectangle.cols > 1 ? flat.localElements() : 0;
      table.places.push_back({int32_t(constants.residents.size()), flat});
      constants.residents.push_back(std::move(resident));
      table.variables.push_back(std::move(variable));
    }
  return table;
}

} // namespace wsc::spmd
