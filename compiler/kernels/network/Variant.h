// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What sizing may decide otherwise than it does by itself: a point of the space that SearchMapping.h searches.
#pragma once

#include <cstdint>
#include <vector>

namespace wsc::kernels {

// Of one stream.
struct StreamWish {
  int32_t moreTileRows = 0; // rows of a tile beyond the fewest there can be
  int32_t blocks = 0;       // channel blocks, as far as receivers can take them; 0: as wordsPerLane says
  int64_t colourShare = 0;  // percent of the colours that its blocks are planned with; 0: as the variant says
  bool operator==(const StreamWish &) const = default;
};

struct Variant {
  int64_t colourShare =
      100; // percent of the colours that channel blocks are planned with; less where routes leave too few
  int64_t wordsPerLane = 1536; // a lane should carry no more per sample, where channel blocks can bring it down
  int64_t rowsUsed = 0;        // of the mesh; 0: as many as suit most tensors
  bool centred = false;        // outputs of windows lie in the middle of their inputs, as far as rows are spare
  bool simpleShapes = true;    // spend left-over columns on simple shapes too
  std::vector<StreamWish> streams = {}; // by stream; those beyond its end have no wish
  bool operator==(const Variant &) const = default;

  StreamWish wishFor(int64_t stream) const {
    return stream < int64_t(streams.size()) ? streams[size_t(stream)] : StreamWish{};
  }
};

} // namespace wsc::kernels
