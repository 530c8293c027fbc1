// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/support/ModelFacts.h"

#include "test/support/NetworkBuilder.h"

#include <gtest/gtest.h>

namespace {

using namespace wsc;
using format::ElementType;

Tensor tensorOf(const std::string &name, ElementType type, const std::vector<double> &values) {
  Tensor tensor;
  tensor.type.name = name;
  tensor.type.type = type;
  tensor.type.shape = {int64_t(values.size())};
  tensor.bytes = test::elementsOf(type, values);
  return tensor;
}

TEST(ModelFacts, BindsValuesOfEveryType) {
  tools::ModelFacts facts;
  for (const char *name : {"half", "brain", "small", "long"})
    facts.inputs.push_back({name});
  driver::CompileOptions options;
  const std::vector<std::string> used =
      tools::bindInputs(facts,
                        {tensorOf("half", ElementType::F16, {1.5, -2}), tensorOf("brain", ElementType::BF16, {0.25}),
                         tensorOf("small", ElementType::I8, {-3, 4}), tensorOf("long", ElementType::U64, {0x1p63})},
                        {"half", "brain", "small", "long"}, options);
  EXPECT_EQ(used, (std::vector<std::string>{"--bind half=1.5,-2", "--bind brain=0.25", "--bind small=-3,4",
                                            "--bind long=9223372036854775808"}));
  EXPECT_EQ(options.bindings["half"], "1.5,-2");
}

} // namespace
