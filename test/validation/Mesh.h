// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A mesh of cores whose programs are written core by core; cores with the same program become one role.
//
//   Mesh mesh(target, 1, P);
//   const int x = mesh.variable("x", ElementType::F32, {P, B});
//   for (int c = 0; c < P; ++c) {
//     Core core(mesh, "stage");
//     Op block = core.part(x, "x", {.offset = 0, .perCol = B, .extent = {B}});
//     core.thread().op(Opcode::Add, core.output(c % 2), core.input((c + 1) % 2), block, {B});
//     mesh.place(0, c, core);
//     mesh.path(c % 2, {0, c}, {0, c - 1});
//   }
//   absl::StatusOr<format::Executable> executable = mesh.finish();
//
// Data lie in state variables, so that a run moves only the words of the program itself: what a core begins with and
// leaves behind is written and read between runs. Buffers are placed above the code, each at the bank it asks for.
#pragma once

#include "test/unit/support/ProgramBuilder.h"

#include "absl/status/statusor.h"

#include <map>
#include <string>
#include <vector>

namespace wsc::validation {

using format::Affine;
using format::ElementType;
using format::Opcode;
using format::Port;
using testing::imm;
using testing::null;
using testing::Op;

struct Place {
  int32_t row = 0, col = 0;
  bool operator==(const Place &) const = default;
};

// The elements of a variable that lie on a core, in the order in which they lie there. Offset at (row, col):
// offset + perRow·row + perCol·col. Extents and strides fill the dimensions from the innermost outwards.
struct Part {
  int64_t offset = 0, perRow = 0, perCol = 0;
  std::vector<int64_t> extent = {};
  std::vector<int64_t> stride = {}; // empty: dense
  bool operator==(const Part &) const = default;
};

class Mesh;

// The program of one core while it is written.
class Core : public testing::RoleBuilder {
public:
  Core(Mesh &mesh, std::string name);

  // A buffer that holds `part` of a variable.
  Op part(int variable, const std::string &name, const Part &part);
  // The bank in which the buffer declared last begins; otherwise any.
  void bank(int number) { placeBank(-1, number); }
  // The same, counted from the bank in which buffer `other` begins.
  void bankBeside(int other, int distance) { placeBank(other, distance); }

private:
  friend class Mesh;
  struct Binding {
    int32_t variable = 0, buffer = 0;
    Part part;
    bool operator==(const Binding &) const = default;
  };
  struct BankChoice { // of a buffer: number −1 is any; `beside`: counted from the bank of that buffer, or from 0
    int beside = -1, number = -1;
    bool operator==(const BankChoice &) const = default;
  };
  void placeBank(int beside, int number) { banks.resize(role.buffers.size()), banks.back() = {beside, number}; }

  Mesh &mesh;
  std::vector<BankChoice> banks;
  std::vector<Binding> bindings;
};

class Mesh {
public:
  Mesh(const target::Target &target, int32_t rows, int32_t cols) : target(target), rows(rows), cols(cols) {}

  // A state variable, zeros at the start; its index.
  int variable(const std::string &name, ElementType type, std::vector<int64_t> shape);

  void place(int32_t row, int32_t col, Core &core);

  // Words that the core at `from` sends on `colour` go straight (along the row, then along the column) to the core at
  // `to`, and on the way to the cores where `drop` is set.
  void path(uint8_t colour, Place from, Place to, bool drop = false);
  // Adds outputs to the setting of one router; the input of a colour is the same for all settings of a router.
  void route(uint8_t colour, Place at, Port input, format::PortMask outputs);
  // A router with several switch positions.
  void switched(uint8_t colour, Place at, std::vector<format::SwitchPosition> positions);

  // The executable, judged by the verifier.
  absl::StatusOr<format::Executable> finish();

private:
  friend class Core;
  struct Kind { // of core
    format::Role role;
    std::vector<Core::BankChoice> banks;
    std::vector<Core::Binding> bindings;
    std::vector<Place> places;
  };
  void layOut(Kind &kind);
  int32_t &settingAt(uint8_t colour, Place at);

  const target::Target &target;
  int32_t rows, cols;
  testing::ExecutableBuilder builder;
  std::vector<Kind> kinds;
  std::map<uint8_t, std::vector<int32_t>> settings; // per colour and router: index into `tables`, or -1
  std::vector<std::vector<format::SwitchPosition>> tables;
  absl::Status fault;
};

constexpr format::PortMask bit(Port port) { return format::PortMask(1u << unsigned(port)); }

// Lattices that together hold exactly the given cores: runs with equal steps, repeated in rows with equal steps.
std::vector<format::Lattice> latticesOf(std::vector<Place> places);

} // namespace wsc::validation
