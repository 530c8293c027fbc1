// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts that roles are made of, out of FlatBuffers: names, numbers, lattices, buffers, instructions, queues. What
// is copied is charged to a budget, for strings and vectors of numbers may be shared by many tables.
#pragma once

#include "runtime/format/Executable.h"
#include "runtime/format/wse_generated.h"

#include "absl/strings/str_cat.h"

#include <bit>
#include <string>
#include <vector>

namespace wsc::format {

class PartDecoder {
public:
  explicit PartDecoder(size_t metadataBytes) : budget(int64_t(metadataBytes) * 16 + 65536) {}

  // Set by the first thing wrong; what is decoded afterwards is dropped.
  std::string problem;

protected:
  bool charge(size_t bytes) {
    budget -= int64_t(bytes);
    if (budget >= 0)
      return true;
    if (problem.empty())
      problem = "names and lists expand to far more than the metadata's size";
    return false;
  }

  std::string text(const flatbuffers::String *from) {
    return from && charge(from->size()) ? from->str() : std::string();
  }

  template <typename From, typename To, typename Decode>
  void list(const From *from, std::vector<To> &to, Decode decode) {
    if (!from || !problem.empty())
      return;
    to.reserve(from->size());
    for (const auto *item : *from)
      to.push_back(decode(*item));
  }

  // As `list`, for structs and numbers, which the verifier does not count.
  template <typename From, typename To, typename Decode>
  void countedList(const From *from, std::vector<To> &to, Decode decode) {
    if (!from || !charge(from->size() * sizeof(To)))
      return;
    to.reserve(from->size());
    for (auto item : *from)
      to.push_back(decode(item));
  }

  template <typename T, size_t N>
  void numbers(const flatbuffers::Vector<T> *from, std::array<T, N> &to, const char *what) {
    if (!from || !aligned(from))
      return;
    if (from->size() > N) {
      if (problem.empty())
        problem = absl::StrCat(what, " with ", from->size(), " dimensions; the limit is ", N);
      return;
    }
    for (uint32_t i = 0; i < from->size(); ++i)
      to[i] = from->Get(i);
  }

  // The verifier checks the alignment of a vector's length, not of elements wider than that.
  template <typename T> bool aligned(const flatbuffers::Vector<T> *from) {
    if (from->size() == 0 || reinterpret_cast<uintptr_t>(from->Data()) % alignof(T) == 0)
      return true;
    if (problem.empty())
      problem = "a misaligned list of numbers";
    return false;
  }

  Lattice lattice(const schema::Lattice *from) {
    Lattice to;
    if (!from)
      return to;
    to.row = from->row();
    to.col = from->col();
    if (!from->dims())
      return to;
    if (from->dims()->size() > kMaxDims) {
      if (problem.empty())
        problem = absl::StrCat("a lattice with ", from->dims()->size(), " dimensions; the limit is ", kMaxDims);
      return to;
    }
    for (uint32_t d = 0; d < from->dims()->size(); ++d) {
      const schema::LatticeDim &dim = *from->dims()->Get(d);
      to.dims[d] = {dim.count(), dim.row_step(), dim.col_step()};
    }
    return to;
  }

  Affine affine(const schema::Affine *from) {
    Affine to;
    if (from) {
      to.constant = from->constant();
      numbers(from->steps(), to.perDim, "an affine expression");
    }
    return to;
  }

  Buffer buffer(const schema::Buffer &from) {
    Buffer to;
    to.name = text(from.name());
    to.kind = BufferKind(from.kind());
    to.type = ElementType(from.type());
    to.address = from.address();
    to.bytes = from.bytes();
    to.section = from.section();
    to.sectionOffset = affine(from.section_offset());
    to.state = from.state();
    to.resident = from.resident();
    to.residentOffset = from.resident_offset();
    to.runStep = from.run_step();
    return to;
  }

  Operand operand(const schema::Operand *from) {
    Operand to;
    if (!from)
      return to;
    to.kind = OperandKind(from->kind());
    to.buffer = from->buffer();
    to.queue = from->queue();
    to.base.constant = from->base();
    numbers(from->base_steps(), to.base.perDim, "an operand's base");
    to.stride = {from->stride0(), from->stride1(), from->stride2(), from->stride3()};
    to.loopStep = {from->loop_step0(), from->loop_step1(), from->loop_step2(), from->loop_step3()};
    to.immediate = std::bit_cast<double>(from->immediate_bits());
    return to;
  }

  Instruction instruction(const schema::Instruction &from) {
    Instruction to;
    to.opcode = Opcode(from.opcode());
    to.type = ElementType(from.type());
    to.sourceType = ElementType(from.source_type());
    to.controlCount = from.control_count();
    to.priority = from.priority();
    to.mixed = from.mixed();
    to.dst = operand(from.dst());
    to.a = operand(from.a());
    to.b = operand(from.b());
    to.extent = {Affine(from.extent0()), Affine(from.extent1()), Affine(from.extent2()), Affine(from.extent3())};
    std::array<int64_t, kMaxDims * kMaxDims> steps{};
    numbers(from.extent_steps(), steps, "an instruction's extents");
    for (int e = 0; e < kMaxDims; ++e)
      for (int d = 0; d < kMaxDims; ++d)
        to.extent[e].perDim[d] = steps[e * kMaxDims + d];
    return to;
  }

  Filter filter(const schema::Filter &from) { return {from.period(), affine(from.begin()), affine(from.words())}; }

  std::vector<Queue> queues(const flatbuffers::Vector<const schema::Queue *> *from) {
    std::vector<Queue> to;
    countedList(from, to, [](const schema::Queue *f) { return Queue{f->output(), f->colour(), f->index(), {}}; });
    return to;
  }

  // Whether place `number` of `count` exists.
  bool exists(int64_t number, size_t count, const char *what) {
    if (number >= 0 && uint64_t(number) < count)
      return true;
    if (problem.empty())
      problem = absl::StrCat(what, " ", number, " does not exist; there are ", count);
    return false;
  }

private:
  int64_t budget;
};

} // namespace wsc::format
