// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Distributions under which an operand moves along no axis, or along one only.
#pragma once

#include "compiler/spmd/plan/Distribution.h"

namespace wsc::spmd {

/// Per axis, the use under which what lies on it stays there: the iterators that walk the dimensions whose digits the
/// axis has. Nothing where these have no such use, or where a reduction would run beyond its end.
struct FollowedUses {
  std::optional<AxisUse> rows, cols;
};
FollowedUses followedUses(const Network &network, const Nest &nest, const Access &access, const Sharding &held);

/// Uses that leave what lies on the axis there and share out among its replicas another parallel iterator: c/32 becomes
/// c/32 and c%32.
std::vector<AxisUse> refined(const Nest &nest, const AxisUse &use);

/// The distribution under which the operand lies as it is held.
std::optional<Distribution> following(const Network &network, const Nest &nest, const Access &access,
                                      const Sharding &held);

} // namespace wsc::spmd
