// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Switch positions of router roles: as many as the target has, each with one input and at least one output that is not
// the input, all different.
#include "runtime/format/verifier/Rules.h"

#include <algorithm>

namespace wsc::format::verifier {

bool checkSwitches(const Scope &scope) {
  size_t before = scope.report.size();
  size_t limit = size_t(scope.target().switchPositions);
  for (size_t r = 0; r < scope.configuration.routers.size(); ++r) {
    const RouterRole &router = scope.configuration.routers[r];
    std::string where =
        text(scope.routerName(int32_t(r)), ", router of ", coreName(router.routers.row, router.routers.col), ": ");
    auto refuse = [&](const std::string &what) { scope.report.add("switch", text(r, "/", what), where + what); };
    if (router.positions.empty() || router.positions.size() > limit)
      refuse(text("has ", router.positions.size(), " switch positions, legal are 1 to ", limit));
    for (size_t p = 0; p < std::min(limit, router.positions.size()); ++p) {
      const SwitchPosition &position = router.positions[p];
      if (position.outputs == 0)
        refuse(text("switch position ", p, " has no output; words would be lost"));
      if (position.outputs >> unsigned(position.input) & 1)
        refuse(text("switch position ", p, " sends words back to their input port ", portName(position.input)));
      for (size_t q = 0; q < p; ++q)
        if (router.positions[q] == position)
          refuse(text("switch positions ", q, " and ", p, " are the same; leave one out"));
    }
  }
  return scope.report.size() == before && !scope.report.full();
}

} // namespace wsc::format::verifier
