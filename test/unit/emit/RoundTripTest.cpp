// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CoreModule → IR → text → IR → CoreModule is the identity on random modules and quick on large ones; malformed modules
// are refused.
#include "RandomModule.h"
#include "test/support/Seed.h"

#include "dialects/core/CoreDialect.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>

namespace wsc::emit {
namespace {

std::string print(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os);
  return text;
}

TEST(RoundTrip, RandomModules) {
  const uint64_t seed = wsc::test::seedOf(1);
  for (uint64_t i = 0; i < 150; ++i) {
    SCOPED_TRACE("WSC_SEED=" + std::to_string(seed + i));
    CoreModule module = randomModule(seed + i);
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    mlir::OwningOpRef<mlir::ModuleOp> ir = toCoreIR(context, module);
    ASSERT_TRUE(ir);
    absl::StatusOr<CoreModule> direct = fromCoreIR(*ir);
    ASSERT_TRUE(direct.ok()) << std::string(direct.status().message());
    ASSERT_EQ(describe(*direct), describe(module));

    std::string text = print(*ir);
    mlir::OwningOpRef<mlir::ModuleOp> parsed = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    ASSERT_TRUE(parsed) << text;
    ASSERT_EQ(print(*parsed), text);
    absl::StatusOr<CoreModule> back = fromCoreIR(*parsed);
    ASSERT_TRUE(back.ok()) << std::string(back.status().message());
    ASSERT_EQ(describe(*back), describe(module)) << text;
  }
}

// The size of ResNet-50. Two seconds on a quiet machine; the test allows for a busy one.
TEST(RoundTrip, LargeModuleIsQuick) {
  CoreModule module = largeModule(3000, 12);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto last = std::chrono::steady_clock::now();
  double total = 0;
  auto lap = [&](const char *what) {
    auto now = std::chrono::steady_clock::now();
    double seconds = std::chrono::duration<double>(now - last).count();
    std::printf("%s: %.2f s\n", what, seconds);
    total += seconds;
    last = now;
  };
  mlir::OwningOpRef<mlir::ModuleOp> ir = toCoreIR(context, module);
  ASSERT_TRUE(ir);
  lap("to IR");
  std::string text = print(*ir);
  lap("print");
  mlir::OwningOpRef<mlir::ModuleOp> parsed = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  ASSERT_TRUE(parsed);
  lap("parse");
  absl::StatusOr<CoreModule> back = fromCoreIR(*parsed);
  ASSERT_TRUE(back.ok());
  lap("from IR");
  EXPECT_EQ(describe(*back), describe(module));
  EXPECT_LT(total, 10);
}

// The first error of toCoreIR on a module that `change` has made wrong.
template <typename Change> std::string refusal(Change change) {
  CoreModule module = largeModule(2, 2);
  change(module, module.executable.configurations[0]);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  std::string message;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    if (message.empty())
      message = diagnostic.str();
    return mlir::success();
  });
  EXPECT_FALSE(toCoreIR(context, module));
  return message;
}

TEST(ToCore, RefusesMalformedModules) {
  using namespace format;
  auto roleOf = [](Configuration &c) -> Role & { return c.roles[0]; };
  EXPECT_EQ(refusal([&](CoreModule &, Configuration &c) { roleOf(c).kernel = 3; }),
            "kernel number 3 is not there; there are 0");
  EXPECT_EQ(refusal([&](CoreModule &, Configuration &c) { c.routers[1].net = -2; }),
            "net number -2 is not there; there are 0");
  EXPECT_EQ(refusal([&](CoreModule &m, Configuration &) { m.sections.clear(); }),
            "section number 0 is not there; there are 0");
  EXPECT_EQ(refusal([&](CoreModule &, Configuration &c) { roleOf(c).buffers[1].kind = BufferKind::Resident; }),
            "resident number -1 is not there; there are 0");
  EXPECT_EQ(refusal([&](CoreModule &m, Configuration &) { m.executable.residents.emplace_back().section = 1; }),
            "section number 1 is not there; there are 1");
  EXPECT_EQ(refusal([&](CoreModule &, Configuration &c) { roleOf(c).threads[0][0].a.buffer = 6; }),
            "role role0 has no buffer number 6");
  EXPECT_EQ(refusal([&](CoreModule &, Configuration &c) { roleOf(c).threads[0][0].b = Operand(); }),
            "role role0: `fma` lacks an operand");
  EXPECT_EQ(refusal([&](CoreModule &, Configuration &c) { roleOf(c).threads[0][0].opcode = Opcode::Loop; }),
            "role role0 has a loop without an end");
  EXPECT_EQ(refusal([&](CoreModule &, Configuration &c) { roleOf(c).threads[0][0].opcode = Opcode::EndLoop; }),
            "role role0 ends a loop that it has not begun");
  EXPECT_EQ(refusal([&](CoreModule &, Configuration &c) { roleOf(c).buffers[0].type = ElementType(99); }),
            "element type 99 does not exist");
  EXPECT_EQ(refusal([&](CoreModule &, Configuration &c) { c.roles[1].name = "role0"; }),
            "'core.role' op is the second role named \"role0\"");
  EXPECT_EQ(refusal([&](CoreModule &, Configuration &c) { roleOf(c).name = ""; }), "'core.role' op needs a name");
}

} // namespace
} // namespace wsc::emit
