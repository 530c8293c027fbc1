// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What tests have to know of the build: sanitizers take memory and time of their own.
#pragma once

namespace wsc::test {

#if defined(__has_feature)
inline constexpr bool kAddressSanitizer = __has_feature(address_sanitizer);
#else
inline constexpr bool kAddressSanitizer = false;
#endif

/// Factor on limits of seconds.
inline constexpr double kSlowdown = kAddressSanitizer ? 10 : 1;

} // namespace wsc::test
