// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compiler's public API: models in files and in memory, executables in files and in memory, hooks, cancellation.
#include "compiler/driver/Compiler.h"
#include "compiler/driver/Pipeline.h"
#include "test/unit/session/Folder.h"

#include <atomic>
#include <csignal>
#include <sys/wait.h>
#include <thread>

namespace wsc::driver {
namespace {

using test::Folder;

const std::string kDigits = WSC_EXAMPLES "/digits/digits.onnx";
const std::string kCounter = WSC_EXAMPLES "/counter/counter.mlir";

std::string contentOf(const std::string &path) {
  absl::StatusOr<std::string> content = readFile(path);
  EXPECT_TRUE(content.ok()) << content.status();
  return content.ok() ? *content : "";
}

std::string compiledTo(const Folder &folder, CompileOptions options) {
  options.output = folder / "model.wse";
  const auto report = compile(options);
  EXPECT_TRUE(report.ok()) << report.status();
  return contentOf(options.output);
}

int filesIn(const Folder &folder) {
  return int(std::distance(std::filesystem::directory_iterator(folder.path), std::filesystem::directory_iterator()));
}

TEST(Compiler, ModelsInMemoryGiveTheSameFile) {
  for (const std::string &model : {kDigits, kCounter}) {
    Folder folder;
    const std::string content = contentOf(model);
    CompileOptions fromFile, fromMemory;
    fromFile.model = model;
    fromMemory.model = model == kDigits ? "mine.onnx" : "mine.mlir";
    fromMemory.content = content;
    EXPECT_EQ(compiledTo(folder, fromFile), compiledTo(folder, fromMemory));
  }
}

TEST(Compiler, ExecutablesInMemoryAreTheSame) {
  Folder folder;
  CompileOptions options;
  options.model = kDigits;
  auto compiled = compileToExecutable(options);
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  EXPECT_EQ(compiled->executable->name, kDigits);
  ASSERT_TRUE(saveExecutable(*compiled->executable, folder / "saved.wse").ok());
  EXPECT_EQ(contentOf(folder / "saved.wse"), compiledTo(folder, options));
  EXPECT_EQ(compiled->report.kernels[0].name, "conv0");
  EXPECT_TRUE(Session::open(compiled->executable).ok());
}

TEST(Compiler, ErrorsNameModelsInMemory) {
  CompileOptions options;
  options.model = "mine.onnx";
  options.content = "hello";
  EXPECT_EQ(compileToExecutable(options).status().message().substr(0, 30), "mine.onnx: not an ONNX model: ");
  EXPECT_EQ(validate(options).status().message().substr(0, 30), "mine.onnx: not an ONNX model: ");
  options.model = "mine.mlir";
  EXPECT_EQ(compileToExecutable(options).status().message().substr(0, 14), "mine.mlir:1:1:");
  options.to = Phase::Core;
  EXPECT_NE(std::string(compileToExecutable(options).status().message()).find("an executable is phase wse, not core"),
            std::string::npos);
}

TEST(Compiler, TellsItsProgress) {
  CompileOptions options;
  options.model = kCounter;
  std::vector<Phase> phases;
  options.hooks.progress = [&](const Progress &progress) { phases.push_back(progress.phase); };
  ASSERT_TRUE(compileToExecutable(options).ok());
  EXPECT_EQ(phases, (std::vector<Phase>{Phase::Import, Phase::Nn, Phase::Kernels, Phase::Sized, Phase::Placed,
                                        Phase::Routed, Phase::Core, Phase::Wse}));
  options.execution = Execution::Phased;
  options.target = "mesh-16x16";
  phases.clear();
  ASSERT_TRUE(compileToExecutable(options).ok());
  EXPECT_EQ(phases, (std::vector<Phase>{Phase::Import, Phase::Nn, Phase::Nests, Phase::Core, Phase::Wse}));
}

// Cancels at the first question, the second, later and later ones, until no more is asked; expects no file before.
// Returns how many questions a whole compilation asks.
int cancelEverywhere(CompileOptions options, const Folder &folder) {
  int questions = 0;
  for (int last = 0; last < 1000; last += 1 + last / 3) {
    questions = 0;
    options.hooks.cancelled = [&] { return questions++ >= last; };
    const auto report = compile(options);
    if (report.ok())
      return questions;
    EXPECT_TRUE(absl::IsCancelled(report.status())) << report.status();
    EXPECT_EQ(filesIn(folder), 0);
  }
  ADD_FAILURE() << "a compilation asks more than 1000 times";
  return questions;
}

TEST(Compiler, EndsWhereItIsCancelledAndLeavesNothing) {
  Folder folder;
  CompileOptions options;
  options.model = kDigits;
  options.output = folder / "model.wse";
  EXPECT_GT(cancelEverywhere(options, folder), 8) << "phases and sections";
  options.search.effort = kernels::Effort::High;
  int questions = 0;
  options.hooks.cancelled = [&] { return questions++ >= 20; };
  EXPECT_TRUE(absl::IsCancelled(compile(options).status())) << "while it searches";
}

// So is a compilation in phases, which asks between plans and programs.
TEST(Compiler, EndsWhereItIsCancelledBetweenPlans) {
  Folder folder;
  CompileOptions options;
  options.model = kDigits;
  options.output = folder / "model.wse";
  options.execution = Execution::Phased;
  EXPECT_GT(cancelEverywhere(options, folder), 20) << "plans and programs";
}

TEST(Compiler, CompilationsRunSideBySide) {
  CompileOptions options;
  options.model = kDigits;
  options.search.threads = 1;
  Folder folder;
  const std::string wanted = compiledTo(folder, options);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      const auto compiled = compileToExecutable(options);
      ASSERT_TRUE(compiled.ok()) << compiled.status();
      const auto file = compiled->executable->file;
      EXPECT_EQ(std::string(reinterpret_cast<const char *>(file.data()), file.size()), wanted);
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST(Pipeline, RunsPassesOnText) {
  auto text = runPipeline("func.func @f() { return }", "cse,func.func(canonicalize)");
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_NE(text->find("func.func @f"), std::string::npos);
  const auto message = [](std::string_view ir, std::string_view pipeline) {
    return std::string(runPipeline(ir, pipeline, "mine.mlir").status().message());
  };
  EXPECT_EQ(message("nonsense", "cse").substr(0, 14), "mine.mlir:1:1:");
  EXPECT_NE(message("module {}", "no-such-pass").find("'no-such-pass' does not refer to a registered pass"),
            std::string::npos);
}

// The command, told to stop while it searches: status 1, one line, no file.
TEST(Command, EndsOnASignalAndLeavesNothing) {
  Folder folder;
  const std::string output = folder / "model.wse", errors = folder.path + "-errors";
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::freopen(errors.c_str(), "w", stderr);
    execl(WSC_COMPILE, "wsc-compile", kDigits.c_str(), "--effort", "high", "-o", output.c_str(), nullptr);
    _exit(127);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(80));
  kill(child, SIGTERM);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  // Before its handler is there the signal ends it; after its last question the file is whole.
  const bool whole = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  EXPECT_TRUE(whole || WIFSIGNALED(status) || WEXITSTATUS(status) == 1) << status;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 1)
    EXPECT_EQ(contentOf(errors), "error: interrupted by signal 15; nothing is written to " + output + "\n");
  EXPECT_EQ(filesIn(folder), whole ? 1 : 0);
  std::filesystem::remove(errors);
}

} // namespace
} // namespace wsc::driver
