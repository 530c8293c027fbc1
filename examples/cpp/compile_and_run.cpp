// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiles a model in memory, runs one sample of zeros, prints results and time.   compile-and-run model.onnx
#include <wsc/compiler/driver/Compiler.h>
#include <wsc/runtime/session/Session.h>

#include <iostream>

static int fail(const absl::Status &status) { return std::cerr << "error: " << status.message() << "\n", 1; }

int main(int argc, char **argv) {
  wsc::driver::CompileOptions options;
  options.model = argc > 1 ? argv[1] : "model.onnx";
  options.hooks.progress = [](const wsc::driver::Progress &p) { std::cout << wsc::driver::phaseName(p.phase) << " "; };
  auto compiled = wsc::driver::compileToExecutable(options);
  if (!compiled.ok())
    return fail(compiled.status());
  auto session = wsc::Session::open(compiled->executable);
  if (!session.ok())
    return fail(session.status());
  std::map<std::string, wsc::Tensor> inputs;
  for (const auto &type : (*session)->executable().entries[0].inputs)
    inputs[type.name] = {type, std::vector<std::byte>(type.elements() * wsc::format::elementBytes(type.type))};
  auto outputs = (*session)->run(0, inputs);
  auto time = (*session)->timing(0);
  if (!outputs.ok() || !time.ok())
    return fail(outputs.ok() ? time.status() : outputs.status());
  std::cout << "\n" << outputs->size() << " outputs, " << (*time)->intervalCycles << " cycles between samples\n";
}
