// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Speed of single instructions in the core engine: `rows_bench [opcode]` prints nanoseconds per element for every
// opcode and element type, on one core with all operands in memory. Forms: packed (1024 neighbours), grid (64 rows of
// 16, a broadcast along the rows, b packed), few (320 rows of three, an element of a for each row, a row of b for all),
// strips (64 rows of 14 that begin 16 apart, an element of b for each row), for reductions sum (1024 elements onto
// one), for gathers one (1024 elements in order behind the one that a single number chooses). WSC_CPU chooses the CPU
// level.
#include "runtime/emulator/RoleProgram.h"
#include "runtime/numerics/Elements.h"

#include <chrono>
#include <cstdio>
#include <cstring>

using namespace wsc;
using namespace wsc::format;

namespace {

constexpr int64_t kMost = 1024;

enum class Form { Packed, Short, Grid, Few, Strips, Sum, One };

Operand memory(int buffer, int64_t outer, int64_t inner) {
  Operand operand;
  operand.kind = OperandKind::Memory;
  operand.buffer = int16_t(buffer);
  operand.stride[2] = int32_t(outer);
  operand.stride[3] = int32_t(inner);
  return operand;
}

// Of one run of the role's program; its buffers hold small numbers of the given types.
double nanoseconds(const Role &role, const emulator::Kernels &kernels, std::array<ElementType, 3> types) {
  auto program = emulator::decodeRole(role, {}, kernels);
  if (!program.ok())
    return -1;
  std::vector<std::byte> scratch(size_t(program->scratchBytes + 64));
  std::vector<std::byte *> buffers;
  for (size_t b = 0; b < 3; ++b) {
    buffers.push_back(scratch.data() + program->bufferOffset[b]);
    const int64_t width = elementBytes(types[b]);
    for (int64_t i = 0; i < role.buffers[b].bytes / width; ++i)
      numerics::storeElement(buffers[b] + i * width, types[b],
                             numerics::encodeImmediate(double(i % 7 + 1) / (b + 1), types[b]));
  }
  std::vector<emulator::FifoPort> fifos(3);
  emulator::CoreFrame frame;
  frame.role = &role;
  frame.buffers = buffers.data();
  frame.fifos = fifos.data();
  auto run = [&] { emulator::runCore(*program, kernels, frame, scratch.data(), true); };
  run();
  double best = 1e9;
  for (int pass = 0; pass < 5; ++pass) {
    const auto begin = std::chrono::steady_clock::now();
    run();
    best = std::min(best, std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count());
  }
  return best;
}

double nanosecondsPerElement(Opcode opcode, ElementType type, ElementType sourceType, Form form,
                             const emulator::Kernels &kernels) {
  const int64_t kElements = form == Form::Short ? 16 : form == Form::Few ? 960 : form == Form::Strips ? 896 : kMost;
  const int64_t width = elementBytes(type),
                rows = form == Form::Grid || form == Form::Strips ? 64
                       : form == Form::Few                        ? 320
                       : form == Form::One                        ? kElements
                                                                  : 1,
                columns = kElements / rows, pitch = form == Form::Strips ? 16 : columns;
  const bool indexed = opcode == Opcode::Gather || opcode == Opcode::Scatter;
  const int64_t aWidth = elementBytes(opcode == Opcode::Convert ? sourceType : type), bWidth = indexed ? 4 : width;
  constexpr int64_t kRepeats = 64;
  Instruction loop, op, end;
  loop.opcode = Opcode::Loop;
  loop.extent[0] = Affine(kRepeats);
  end.opcode = Opcode::EndLoop;
  op.opcode = opcode;
  op.type = type;
  op.sourceType = sourceType;
  op.extent = {Affine(1), Affine(1), Affine(rows), Affine(columns)};
  op.dst = form == Form::Sum ? memory(2, 0, 0) : memory(2, pitch * width, width);
  op.a = form == Form::Grid  ? memory(0, 0, aWidth)
         : form == Form::Few ? memory(0, aWidth, 0)
                             : memory(0, pitch * aWidth, aWidth);
  if (opcodeInfo(opcode).sources == 2)
    op.b = form == Form::Few      ? memory(1, 0, bWidth)
           : form == Form::Strips ? memory(1, bWidth, 0)
           : form == Form::One    ? memory(1, 0, 0)
                                  : memory(1, columns * bWidth, bWidth);
  Role role;
  for (int b = 0; b < 3; ++b) {
    Buffer buffer;
    buffer.bytes = kMost * 8;
    role.buffers.push_back(buffer);
  }
  Instruction touch = op; // keeps the loop from being one nest
  touch.opcode = Opcode::Move;
  touch.type = ElementType::F32;
  touch.extent = {Affine(1), Affine(1), Affine(1), Affine(1)};
  touch.dst = memory(2, 0, 4);
  touch.a = memory(2, 0, 4);
  touch.b = {};
  role.threads = {{loop, op, touch, end}};
  const ElementType aType = opcode == Opcode::Convert ? sourceType : type;
  return nanoseconds(role, kernels, {aType, indexed ? ElementType::I32 : type, type}) / double(kRepeats * kElements);
}

void printRow(const char *title, Opcode opcode, Form form, const emulator::Kernels &kernels, bool convert = false,
              ElementType sourceType = ElementType::F32) {
  std::printf("%-18s", title);
  for (int t = 0; t < kNumElementTypes; ++t) {
    const auto type = ElementType(t);
    if (!numerics::isDefined(opcode, type))
      std::printf("%7s", "-");
    else
      std::printf("%7.2f", nanosecondsPerElement(opcode, type, convert ? sourceType : type, form, kernels));
  }
  std::printf("\n");
}

// acc[i] += x[k] · w[k][i] for 64 i and 256 k, a loop around one multiply-add: nanoseconds per multiply-add.
double nestNanoseconds(ElementType type, ElementType sourceType, const emulator::Kernels &kernels) {
  constexpr int64_t kOutputs = 64, kInputs = 256;
  const auto width = int32_t(elementBytes(sourceType));
  Instruction loop, op, end;
  loop.opcode = Opcode::Loop;
  loop.extent[0] = Affine(kInputs);
  end.opcode = Opcode::EndLoop;
  op.opcode = Opcode::Fma;
  op.type = type;
  op.sourceType = sourceType;
  op.mixed = type != sourceType;
  op.extent[3] = Affine(kOutputs);
  op.dst = memory(2, 0, elementBytes(type));
  op.a = memory(0, 0, 0);
  op.a.loopStep[0] = width;
  op.b = memory(1, 0, width);
  op.b.loopStep[0] = width * int32_t(kOutputs);
  Role role;
  role.buffers.resize(3);
  for (auto [b, bytes] :
       {std::pair(0, kInputs * width), std::pair(1, kInputs * kOutputs * width), std::pair(2, kOutputs * 8)})
    role.buffers[size_t(b)].bytes = bytes;
  role.threads = {{loop, op, end}};
  return nanoseconds(role, kernels, {sourceType, sourceType, type}) / double(kOutputs * kInputs);
}

} // namespace

int main(int argc, char **argv) {
  const emulator::Kernels &kernels = emulator::kernels(emulator::cpuLevel());
  std::printf("%-18s", "ns/element");
  for (int t = 0; t < kNumElementTypes; ++t)
    std::printf("%7s", std::string(elementTypeName(ElementType(t))).c_str());
  std::printf("\n");
  for (int o = 0; o < kNumOpcodes; ++o) {
    const auto opcode = Opcode(o);
    const std::string name(opcodeInfo(opcode).name);
    if (opcode == Opcode::Loop || opcode == Opcode::EndLoop || opcode == Opcode::SendControl ||
        (argc > 1 && name != argv[1]))
      continue;
    if (opcode == Opcode::Convert) {
      for (int t = 0; t < kNumElementTypes; ++t)
        printRow(("convert from " + std::string(elementTypeName(ElementType(t)))).c_str(), opcode, Form::Packed,
                 kernels, true, ElementType(t));
      continue;
    }
    printRow(name.c_str(), opcode, Form::Packed, kernels);
    printRow((name + " short").c_str(), opcode, Form::Short, kernels);
    if (opcodeInfo(opcode).sources == 2 && opcode != Opcode::Gather && opcode != Opcode::Scatter)
      for (const auto &[form, title] :
           {std::pair(Form::Grid, " grid"), std::pair(Form::Few, " few"), std::pair(Form::Strips, " strips")})
        printRow((name + title).c_str(), opcode, form, kernels);
    if (opcode == Opcode::Gather)
      printRow("gather one", opcode, Form::One, kernels);
    if (opcode >= Opcode::ReduceAdd && opcode <= Opcode::ReduceMax)
      printRow((name + " sum").c_str(), opcode, Form::Sum, kernels);
  }
  if (argc == 1) {
    std::printf("%-18s", "fma loop");
    for (int t = 0; t < kNumElementTypes; ++t)
      std::printf("%7.2f", nestNanoseconds(ElementType(t), ElementType(t), kernels));
    std::printf("\nfma loop, f16 to f32 %.2f, bf16 to f32 %.2f, i8 to i32 %.2f, f32 to f64 %.2f\n",
                nestNanoseconds(ElementType::F32, ElementType::F16, kernels),
                nestNanoseconds(ElementType::F32, ElementType::BF16, kernels),
                nestNanoseconds(ElementType::I32, ElementType::I8, kernels),
                nestNanoseconds(ElementType::F64, ElementType::F32, kernels));
  }
}
