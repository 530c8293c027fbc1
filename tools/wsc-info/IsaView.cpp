// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The instruction set as a table.
#include "runtime/format/Isa.h"
#include "tools/wsc-info/Facts.h"
#include "tools/wsc-info/Views.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <array>

namespace wsc::info {

using namespace format;

std::string isaView(const Executable *executable) {
  std::array<int64_t, kNumOpcodes> used{};
  if (executable)
    for (const Configuration &configuration : executable->configurations)
      for (const Role &role : configuration.roles)
        for (const Thread &thread : role.threads)
          for (const Instruction &instruction : thread)
            ++used[size_t(instruction.opcode)];
  std::string text = absl::StrCat(padded("opcode", 14), padded("sources", 9), padded("reads dst", 11),
                                  padded("types", 10), executable ? padded("in roles", 10) : "", "meaning\n");
  for (int o = 0; o < kNumOpcodes; ++o) {
    const OpcodeInfo &info = opcodeInfo(Opcode(o));
    absl::StrAppend(&text, padded(std::string(info.name), 14), padded(std::to_string(info.sources), 9),
                    padded(info.readsDst ? "yes" : "no", 11), padded(info.floatOnly ? "floating" : "all", 10),
                    executable ? padded(std::to_string(used[size_t(o)]), 10) : "", std::string(info.summary), "\n");
  }
  return text;
}

} // namespace wsc::info
