// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/phases/OutputPart.h"

#include "compiler/spmd/moves/EmitMove.h"
#include "compiler/spmd/plan/PortSharding.h"

namespace wsc::spmd {

void emitOutputPart(Code &code, const Sharding &part, const Sharding &box, format::ElementType type, Place place,
                    int32_t length) {
  const Rectangle &at = part.rectangle;
  const int32_t unit = leavingUnit(box);
  if (part.localElements() == box.localElements()) {
    emitOutput(code, at.row, at.row + at.rows, at.cols, wordBytes(type, box.localElements()) / 4, place, length, unit);
    return;
  }
  const int64_t bytes = format::elementBytes(type);
  std::vector<int64_t> extents, strides;
  int64_t pitch = bytes;
  for (size_t d = box.dims.size(); d-- > 0; pitch *= box.dims[d].localExtent()) {
    const int64_t extent = part.dims[d].localExtent();
    if (extent == 1)
      continue;
    // Dimensions that go on where the one inside ends are one: a ragged dimension of each axis leaves three.
    if (!extents.empty() && strides[0] * extents[0] == pitch) {
      extents[0] *= extent;
      continue;
    }
    extents.insert(extents.begin(), extent);
    strides.insert(strides.begin(), pitch);
  }
  if (extents.empty()) {
    extents = {1};
    strides = {bytes};
  }
  emitOutputBox(code, at, type, extents, memory(place.buffer, place.baseBytes, strides), length, unit);
}

} // namespace wsc::spmd
