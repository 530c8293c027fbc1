// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random functions over random variables: reads, writes, elementwise layers and matrix products in any order, called in
// any order, against values computed here statement by statement. Whole numbers below 2^24, so every sum is exact.
#include "test/unit/state/Program.h"

#include <cmath>
#include <random>

namespace wsc::test {
namespace {

constexpr int kSize = 3; // every tensor is [1, 3]

struct Statement {
  enum Kind { Read, Write, Add, Sub, Max, Neg, AddConstant, Matmul } kind;
  int variable = 0, a = 0, b = 0; // values by number: the input is 0
};
struct Function {
  std::vector<Statement> statements;
  std::vector<int> results;
};

struct Module {
  int variables = 0;
  std::vector<Function> functions;

  explicit Module(std::mt19937 &random) {
    auto below = [&](int limit) { return int(random() % unsigned(limit)); };
    variables = 1 + below(3);
    functions.resize(1 + size_t(below(2)));
    for (Function &function : functions) {
      int values = 1, count = 2 + below(8);
      for (int i = 0; i < count; ++i) {
        Statement statement{Statement::Kind(below(8)), below(variables), below(values), below(values)};
        if (statement.kind == Statement::Matmul && below(3) != 0)
          statement.kind = Statement::Read;
        function.statements.push_back(statement);
        values += statement.kind != Statement::Write;
      }
      for (int i = below(3); i > 0; --i)
        function.results.push_back(below(values));
    }
  }

  std::string text() const {
    const std::string type = "tensor<1x3xf32>", binary = " : (" + type + ", " + type + ") -> " + type + "\n";
    std::string text;
    for (int v = 0; v < variables; ++v)
      text += "nn.variable @v" + std::to_string(v) + " : " + type + " = dense<" + std::to_string(v + 1) +
              ".0> : " + type + "\n";
    for (size_t f = 0; f < functions.size(); ++f) {
      const Function &function = functions[f];
      std::string types, names;
      for (int result : function.results) {
        types += (types.empty() ? "" : ", ") + type;
        names += (names.empty() ? "%" : ", %") + std::to_string(result);
      }
      text += "func.func @f" + std::to_string(f) + "(%0: " + type + ")" + (types.empty() ? "" : " -> (" + types + ")") +
              " {\n";
      text += "  %w = nn.constant dense<[[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]> : tensor<3x3xf32>\n";
      text += "  %c = nn.constant dense<[[1.0, 2.0, -3.0]]> : " + type + "\n";
      int next = 1;
      for (const Statement &s : function.statements) {
        std::string a = "%" + std::to_string(s.a), b = "%" + std::to_string(s.b), v = "@v" + std::to_string(s.variable);
        if (s.kind == Statement::Write) {
          text += "  nn.write " + v + ", " + a + " : " + type + "\n";
          continue;
        }
        text += "  %" + std::to_string(next++) + " = ";
        switch (s.kind) {
        case Statement::Read:
          text += "nn.read " + v + " : " + type + "\n";
          break;
        case Statement::Add:
          text += "nn.binary add " + a + ", " + b + binary;
          break;
        case Statement::Sub:
          text += "nn.binary sub " + a + ", " + b + binary;
          break;
        case Statement::Max:
          text += "nn.binary max " + a + ", " + b + binary;
          break;
        case Statement::Neg:
          text += "nn.unary neg " + a + " : " + type + "\n";
          break;
        case Statement::AddConstant:
          text += "nn.binary add " + a + ", %c" + binary;
          break;
        default:
          text += "nn.matmul " + a + ", %w : (" + type + ", tensor<3x3xf32>) -> " + type + "\n";
        }
      }
      text += "  return" + (names.empty() ? "" : " " + names + " : " + types) + "\n}\n";
    }
    return text;
  }

  std::vector<Floats> call(const Function &function, const Floats &input, std::vector<Floats> &states) const {
    std::vector<Floats> values{input};
    for (const Statement &s : function.statements) {
      if (s.kind == Statement::Write) {
        states[size_t(s.variable)] = values[size_t(s.a)];
        continue;
      }
      const Floats &a = values[size_t(s.a)], &b = values[size_t(s.b)];
      Floats y(kSize);
      const float constants[] = {1, 2, -3};
      for (size_t i = 0; i < kSize; ++i)
        switch (s.kind) {
        case Statement::Read:
          y[i] = states[size_t(s.variable)][i];
          break;
        case Statement::Add:
          y[i] = a[i] + b[i];
          break;
        case Statement::Sub:
          y[i] = a[i] - b[i];
          break;
        case Statement::Max:
          y[i] = std::max(a[i], b[i]);
          break;
        case Statement::Neg:
          y[i] = -a[i];
          break;
        case Statement::AddConstant:
          y[i] = a[i] + constants[i];
          break;
        default:
          y[i] = i == 0 ? -a[1] : i == 1 ? a[0] : a[2];
        }
      values.push_back(y);
    }
    std::vector<Floats> results;
    for (int result : function.results)
      results.push_back(values[size_t(result)]);
    return results;
  }
};

TEST(State, RandomFunctionsDoWhatTheirStatementsSay) {
  const char *given = std::getenv("WSC_SEED");
  unsigned first = given ? unsigned(std::stoul(given)) : 1;
  for (unsigned seed = first; seed < first + (given ? 1 : 60); ++seed) {
    SCOPED_TRACE("WSC_SEED=" + std::to_string(seed));
    std::mt19937 random(seed);
    Module module(random);
    Program program(module.text(), "mesh-40x40");
    ASSERT_TRUE(program.ok()) << program.status << "\n" << module.text();
    std::vector<Floats> states;
    for (int v = 0; v < module.variables; ++v)
      states.push_back(Floats(kSize, float(v + 1)));
    for (int call = 0; call < 4; ++call) {
      size_t f = random() % module.functions.size();
      Floats x(kSize);
      for (float &value : x)
        value = float(int(random() % 9) - 4);
      auto expected = module.call(module.functions[f], x, states);
      // −0 and 0 are the same number to a matrix product with zeros.
      ASSERT_EQ(program.run("f" + std::to_string(f), {x}), expected) << "f" << f << "\n" << module.text();
      for (int v = 0; v < module.variables; ++v)
        ASSERT_EQ(program.state("v" + std::to_string(v)), states[size_t(v)]) << "v" << v << " after f" << f << "\n"
                                                                             << module.text();
    }
  }
}

} // namespace
} // namespace wsc::test
