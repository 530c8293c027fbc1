// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// State bindings: the buffer is a state buffer of that variable, of its type, large enough for the elements bound to
// it, and the elements lie inside the variable. Every state buffer is bound, and a variable's initial section has its
// size.
#include "runtime/format/verifier/Forms.h"
#include "runtime/format/verifier/Rules.h"

namespace wsc::format::verifier {

namespace {

int64_t elementsOf(const TensorType &tensor) {
  int64_t elements = 1;
  for (int64_t extent : tensor.shape)
    elements = multiply(elements, extent);
  return elements;
}

void checkBinding(const Scope &scope, size_t b) {
  const StateBinding &binding = scope.configuration.stateBindings[b];
  const TensorType &variable = scope.executable.states[binding.state].tensor;
  const Role &role = scope.configuration.roles[binding.role];
  const Buffer &buffer = role.buffers[binding.buffer];
  std::string where = text("state binding #", b, " of variable ", variable.name, " to buffer ", buffer.name, " of ",
                           scope.roleName(binding.role));
  auto refuse = [&](const char *rule, const std::string &what) {
    scope.report.add(rule, text(b), text(where, ": ", what));
  };
  if (buffer.kind != BufferKind::State || buffer.state != binding.state)
    refuse("state-binding", "the buffer does not hold that variable; declare it as its state buffer");
  if (buffer.type != variable.type)
    refuse("state-type", text("the buffer has elements of type ", elementTypeName(buffer.type),
                              ", the variable of type ", elementTypeName(variable.type)));
  Form low(binding.hostOffset), high(binding.hostOffset);
  int64_t elements = 1;
  for (int d = 0; d < kMaxDims; ++d) {
    elements = multiply(elements, binding.extent[d]);
    (binding.stride[d] < 0 ? low : high) += Form((Wide(binding.extent[d]) - 1) * binding.stride[d]);
  }
  if (elements == 0)
    return;
  if (multiply(elements, elementBytes(variable.type)) > buffer.bytes)
    refuse("state-bounds", text(elements, " elements of ", elementBytes(variable.type), " bytes exceed the buffer's ",
                                buffer.bytes, " bytes"));
  Extreme first = minimum(low, role.cores), last = maximum(high, role.cores);
  if (first.value < 0 || last.value >= elementsOf(variable))
    refuse("state-bounds", text("elements ", number(first.value), " to ", number(last.value),
                                " over its cores lie outside the variable of ", elementsOf(variable), " elements"));
}

} // namespace

void checkStates(const Scope &scope) {
  const Configuration &configuration = scope.configuration;
  std::vector<std::vector<bool>> bound;
  for (const Role &role : configuration.roles)
    bound.emplace_back(role.buffers.size());
  for (size_t b = 0; b < configuration.stateBindings.size(); ++b) {
    checkBinding(scope, b);
    bound[configuration.stateBindings[b].role][configuration.stateBindings[b].buffer] = true;
  }
  for (size_t r = 0; r < bound.size(); ++r)
    for (size_t b = 0; b < bound[r].size(); ++b)
      if (const Buffer &buffer = configuration.roles[r].buffers[b]; buffer.kind == BufferKind::State && !bound[r][b])
        scope.report.add("state-binding", text(r, "/", b),
                         text(scope.roleName(int32_t(r)), ": state buffer ", buffer.name,
                              " has no state binding that says which elements it holds"));
  for (const StateVariable &state : scope.executable.states) {
    if (state.initialSection < 0)
      continue;
    int64_t wanted = multiply(elementsOf(state.tensor), elementBytes(state.tensor.type));
    int64_t found = int64_t(scope.executable.sections[state.initialSection].bytes.size());
    if (wanted != found)
      scope.report.add(
          "state-section", state.tensor.name,
          text("state variable ", state.tensor.name, " has ", wanted, " bytes, its initial section ", found));
  }
}

} // namespace wsc::format::verifier
