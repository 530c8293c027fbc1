// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lattices, ports, tensors, residents, steps and names as text, and the search of a point in a lattice.
#include "runtime/format/Disassembly.h"

#include "absl/strings/str_cat.h"

namespace wsc::format {
namespace {

// Length of the well-formed UTF-8 sequence at the start of `text`, 0 if there is none.
size_t sequenceLength(std::string_view text) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char lead = byte(0);
  if (lead < 0x80)
    return 1;
  size_t length = lead >= 0xc2 && lead <= 0xdf   ? 2
                  : lead >= 0xe0 && lead <= 0xef ? 3
                  : lead >= 0xf0 && lead <= 0xf4 ? 4
                                                 : 0;
  if (length == 0 || text.size() < length)
    return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80)
      return 0;
  // Overlong forms, surrogates, beyond U+10FFFF; and the control characters U+0080 to U+009F, which terminals obey.
  bool bad = (lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xed && byte(1) >= 0xa0) ||
             (lead == 0xf0 && byte(1) < 0x90) || (lead == 0xf4 && byte(1) >= 0x90) || (lead == 0xc2 && byte(1) < 0xa0);
  return bad ? 0 : length;
}

std::string printRange(const char *what, int32_t first, int32_t count, int32_t step) {
  if (count == 1)
    return absl::StrCat(what, " ", first);
  std::string text = absl::StrCat(what, "s ", first, "..", first + (count - 1) * step);
  return step == 1 ? text : absl::StrCat(text, " step ", step);
}

} // namespace

std::string printable(std::string_view text) {
  std::string clean;
  for (size_t i = 0; i < text.size();) {
    size_t length = sequenceLength(text.substr(i));
    if (length == 0 || (length == 1 && (text[i] < 0x20 || text[i] == 0x7f))) {
      clean += '?';
      ++i;
    } else {
      clean += text.substr(i, length);
      i += length;
    }
  }
  return clean;
}

std::string printLattice(const Lattice &lattice) {
  if (lattice.size() == 1)
    return absl::StrCat("core (", lattice.row, ", ", lattice.col, ")");
  // One dimension along each axis at most: a grid.
  Lattice::Dim rows, cols;
  bool grid = true;
  for (const Lattice::Dim &dim : lattice.dims) {
    if (dim.count == 1)
      continue;
    if (dim.colStep == 0 && rows.count == 1)
      rows = dim;
    else if (dim.rowStep == 0 && cols.count == 1)
      cols = dim;
    else
      grid = false;
  }
  if (grid)
    return absl::StrCat(printRange("row", lattice.row, rows.count, rows.rowStep), ", ",
                        printRange("col", lattice.col, cols.count, cols.colStep));
  std::string text = absl::StrCat("from (", lattice.row, ", ", lattice.col, ")");
  for (const Lattice::Dim &dim : lattice.dims)
    if (dim.count > 1)
      absl::StrAppend(&text, ", ", dim.count, " times (", dim.rowStep, ", ", dim.colStep, ")");
  return text;
}

std::string_view portName(Port port) {
  constexpr std::string_view names[kNumPorts] = {"N", "S", "E", "W", "RAMP"};
  return port <= Port::Ramp ? names[int(port)] : "?";
}

std::string printSwitchPosition(const SwitchPosition &position) {
  std::string text = absl::StrCat(std::string(portName(position.input)), " ->");
  for (int port = 0; port < kNumPorts; ++port)
    if (position.outputs & (1 << port))
      absl::StrAppend(&text, " ", std::string(portName(Port(port))));
  return text;
}

std::string_view bufferKindName(BufferKind kind) {
  constexpr std::string_view names[] = {"scratch", "constant", "fifo", "state", "resident"};
  return kind <= BufferKind::Resident ? names[int(kind)] : "?";
}

std::string printTensorType(const TensorType &type) {
  std::string text = absl::StrCat(printable(type.name), ": ", std::string(elementTypeName(type.type)), "[");
  for (size_t d = 0; d < type.shape.size(); ++d)
    absl::StrAppend(&text, d ? "," : "", type.shape[d]);
  return text + "]";
}

std::string printResident(const Executable &executable, const Resident &resident, const LatticeIndex *index) {
  std::string text =
      absl::StrCat(std::string(elementTypeName(resident.type)), ", ", resident.bytes, " bytes at ", resident.address);
  if (!index)
    absl::StrAppend(&text, ", ", printLattice(resident.cores));
  if (resident.section >= 0)
    absl::StrAppend(&text, ", constant from section ", printable(executable.sections[size_t(resident.section)].name),
                    " at ", printAffine(resident.sectionOffset, index));
  if (resident.state >= 0)
    absl::StrAppend(&text, ", elements of ", printable(executable.states[size_t(resident.state)].tensor.name), " from ",
                    printAffine(resident.stateOffset, index));
  return text;
}

std::string printStep(const Executable &executable, const Step &step) {
  std::string text = absl::StrCat(step.kind == StepKind::Configure ? "configure " : "run ",
                                  printable(executable.configurations[size_t(step.configuration)].name));
  if (step.count != 1)
    absl::StrAppend(&text, " x ", step.count);
  if (step.first != 0)
    absl::StrAppend(&text, " from iteration ", step.first);
  for (size_t i = 0; i < step.after.size(); ++i)
    absl::StrAppend(&text, i == 0 ? " after " : " ", step.after[i]);
  return text;
}

bool findInLattice(const Lattice &lattice, int32_t row, int32_t col, LatticeIndex &index) {
  // Depth first over the dimensions; a dimension that moves along one axis only, while no later one does, has one
  // candidate. General steps are tried one by one: lattices have few such dimensions.
  struct Search {
    const Lattice &lattice;
    LatticeIndex &index;
    bool run(int d, int64_t rowsLeft, int64_t colsLeft) {
      if (d == kMaxDims)
        return rowsLeft == 0 && colsLeft == 0;
      const Lattice::Dim &dim = lattice.dims[d];
      bool laterRows = false, laterCols = false;
      for (int e = d + 1; e < kMaxDims; ++e) {
        laterRows |= lattice.dims[e].count > 1 && lattice.dims[e].rowStep != 0;
        laterCols |= lattice.dims[e].count > 1 && lattice.dims[e].colStep != 0;
      }
      auto only = [&](int64_t left, int64_t step) {
        int64_t candidate = left / step;
        if (candidate * step != left || candidate < 0 || candidate >= dim.count)
          return false;
        index[d] = int32_t(candidate);
        return run(d + 1, rowsLeft - candidate * dim.rowStep, colsLeft - candidate * dim.colStep);
      };
      if (dim.rowStep != 0 && !laterRows)
        return only(rowsLeft, dim.rowStep);
      if (dim.colStep != 0 && !laterCols)
        return only(colsLeft, dim.colStep);
      for (int32_t i = 0; i < dim.count; ++i) {
        index[d] = i;
        if (run(d + 1, rowsLeft - int64_t(i) * dim.rowStep, colsLeft - int64_t(i) * dim.colStep))
          return true;
        if (dim.rowStep == 0 && dim.colStep == 0)
          break; // further indices are the same point
      }
      return false;
    }
  };
  index = {};
  return Search{lattice, index}.run(0, int64_t(row) - lattice.row, int64_t(col) - lattice.col);
}

} // namespace wsc::format
