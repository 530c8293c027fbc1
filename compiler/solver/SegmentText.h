// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs of links in text: ROW COL ROWEND COLEND, and with the words that they carry.
#pragma once

#include "compiler/solver/Routing.h"
#include "compiler/solver/Text.h"

namespace wsc::solver::routing {

inline Segment readSegment(LineReader &in) {
  Segment segment;
  segment.row = in.integer32("row");
  segment.col = in.integer32("column");
  segment.rowEnd = in.integer32("end row");
  segment.colEnd = in.integer32("end column");
  return segment;
}

inline FixedLoad readLoad(LineReader &in) {
  FixedLoad load;
  load.segment = readSegment(in);
  load.wordsPerSample = in.integer("words");
  return load;
}

// `KEYWORD ROW COL ROWEND COLEND`, without the line's end.
inline std::string segmentText(const char *keyword, const Segment &s) {
  return absl::StrCat(keyword, " ", s.row, " ", s.col, " ", s.rowEnd, " ", s.colEnd);
}

inline std::string loadText(const char *keyword, const FixedLoad &load) {
  return absl::StrCat(segmentText(keyword, load.segment), " ", load.wordsPerSample, "\n");
}

} // namespace wsc::solver::routing
