// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/support/PhasesProgram.h"

namespace wsc::test {

using namespace spmd;

absl::StatusOr<PhasesProgram> inMemory(GeneratedProgram generated) {
  PhasesProgram program;
  program.executable = std::move(generated.executable);
  for (const emit::SectionRecipe &recipe : generated.sections) {
    auto content = recipe.inlineBytes;
    if (recipe.make) {
      std::vector<std::byte> made(size_t(recipe.sourceBytes));
      if (absl::Status status = recipe.make(made); !status.ok())
        return status;
      content = std::make_shared<const std::vector<std::byte>>(std::move(made));
    }
    if (!content)
      return absl::UnimplementedError("the section lies in a file");
    program.bytes.push_back(content);
    program.executable.sections.push_back({recipe.name, *content});
  }
  return program;
}

} // namespace wsc::test
