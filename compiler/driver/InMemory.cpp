// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compilation into memory: by way of a file in a folder of its own, which is mapped and loses its name.
#include "compiler/driver/Compiler.h"

#include "absl/strings/str_cat.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>

namespace wsc::driver {

absl::StatusOr<Compiled> compileToExecutable(const CompileOptions &options) {
  if (options.to != Phase::Wse)
    return absl::InvalidArgumentError(
        absl::StrCat("an executable is phase wse, not ", phaseName(options.to), "; compile() writes IR to a file"));
  std::error_code error;
  std::string folder = std::filesystem::temp_directory_path(error) / "wsc-XXXXXX";
  if (error || !mkdtemp(folder.data()))
    return absl::ErrnoToStatus(error ? error.value() : errno, absl::StrCat("cannot make a temporary folder ", folder));
  CompileOptions wanted = options;
  wanted.output = folder + "/" + "model.wse";
  auto report = compile(wanted);
  absl::StatusOr<ExecutablePtr> executable =
      report.ok() ? openExecutable(wanted.output, {}, options.output.empty() ? options.model : options.output)
                  : report.status();
  std::filesystem::remove_all(folder, error);
  if (!executable.ok())
    return executable.status();
  return Compiled{*std::move(executable), *std::move(report)};
}

} // namespace wsc::driver
