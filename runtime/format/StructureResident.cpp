// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The structure of residents, and of the buffers that are windows of them: what they name exists, constants lie in
// their section and elements of variables begin inside of these on every core, and a window stays inside of its
// resident in every iteration that a step asks for.
#include "runtime/format/Bounds.h"
#include "runtime/format/Structure.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace wsc::format {
namespace {

constexpr int64_t kMostBytes = int64_t(1) << 32;

absl::Status checkSource(const Executable &executable, std::span<const int64_t> sectionBytes, const Resident &resident,
                         const Where &where) {
  if (resident.section != -1 && resident.state != -1)
    return broken(where, absl::StrCat("names section ", resident.section, " and state variable ", resident.state,
                                      "; it may have one of them"));
  if (absl::Status status = checkAffine(resident.sectionOffset, resident.cores, where); !status.ok())
    return status;
  if (absl::Status status = checkAffine(resident.stateOffset, resident.cores, where); !status.ok())
    return status;
  if (resident.section != -1) {
    if (absl::Status status = checkIndex(resident.section, sectionBytes.size(), "section", where); !status.ok())
      return status;
    const Interval offsets = rangeOver(resident.sectionOffset, resident.cores);
    const int64_t bytes = sectionBytes[resident.section];
    if (offsets.least < 0 || offsets.most + resident.bytes > bytes)
      return broken(where,
                    absl::StrCat("takes bytes ", int64_t(offsets.least), " to ", int64_t(offsets.most) + resident.bytes,
                                 " of section ", resident.section, ", which has ", bytes));
  }
  if (resident.state != -1) {
    if (absl::Status status = checkIndex(resident.state, executable.states.size(), "state variable", where);
        !status.ok())
      return status;
    const TensorType &tensor = executable.states[resident.state].tensor;
    if (resident.type != tensor.type)
      return broken(where, absl::StrCat("is ", std::string(elementTypeName(resident.type)), ", the variable ",
                                        std::string(elementTypeName(tensor.type))));
    if (const Interval offsets = rangeOver(resident.stateOffset, resident.cores); offsets.least < 0)
      return broken(where, absl::StrCat("begins at element ", int64_t(offsets.least), " of its variable on some core"));
  }
  return absl::OkStatus();
}

} // namespace

absl::Status checkResident(const Executable &executable, std::span<const int64_t> sectionBytes,
                           const Resident &resident, const Where &where) {
  if (int(resident.type) >= kNumElementTypes)
    return broken(where, absl::StrCat("element type ", int(resident.type), " does not exist"));
  if (resident.address < 0 || resident.address > kMostBytes || resident.bytes < 0 || resident.bytes > kMostBytes)
    return broken(where,
                  absl::StrCat("address ", resident.address, " with ", resident.bytes, " bytes lies in no SRAM"));
  if (absl::Status status = checkLattice(resident.cores, where); !status.ok())
    return status;
  if (const int64_t cores = executable.target.numCores(); resident.cores.size() > cores)
    return broken(where,
                  absl::StrCat("its lattice has ", resident.cores.size(), " points, the mesh ", cores, " cores"));
  return checkSource(executable, sectionBytes, resident, where);
}

absl::Status checkWindow(const Executable &executable, const Buffer &buffer, int64_t runs, const Where &where) {
  if (buffer.kind != BufferKind::Resident)
    return buffer.resident == -1 && buffer.residentOffset == 0 && buffer.runStep == 0
               ? absl::OkStatus()
               : broken(where, absl::StrCat("names resident ", buffer.resident, " but is no window of one"));
  if (absl::Status status = checkIndex(buffer.resident, executable.residents.size(), "resident", where); !status.ok())
    return status;
  for (int64_t value : {buffer.residentOffset, buffer.runStep})
    if (value < -kMostBytes || value > kMostBytes)
      return broken(where, absl::StrCat("a window offset or step of ", value, " bytes; the limit is ", kMostBytes,
                                        " either way"));
  const int64_t last = buffer.residentOffset + (runs - 1) * buffer.runStep;
  const int64_t least = std::min(buffer.residentOffset, last), most = std::max(buffer.residentOffset, last);
  const Resident &resident = executable.residents[buffer.resident];
  if (least < 0 || most + buffer.bytes > resident.bytes)
    return broken(where, absl::StrCat("views bytes ", least, " to ", most + buffer.bytes, " of resident \"",
                                      resident.name, "\" in ", runs, " iterations; it has ", resident.bytes));
  return absl::OkStatus();
}

} // namespace wsc::format
