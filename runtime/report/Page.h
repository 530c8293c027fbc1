// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The page that shows a report, made at build time.
#pragma once

#include <string_view>

namespace wsc::report {

// The whole page with a mark where the report's JSON goes. Without a mark: why the build has no page.
extern const std::string_view kPage;

} // namespace wsc::report
