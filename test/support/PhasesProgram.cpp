// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/support/PhasesProgram.h"

#include "compiler/spmd/moves/BestMove.h"

#include <algorithm>
#include <cstdlib>
#include <set>

namespace wsc::test {

using namespace spmd;

absl::StatusOr<PhasesProgram> inMemory(GeneratedProgram generated) {
  PhasesProgram program;
  program.executable = std::move(generated.executable);
  for (const emit::SectionRecipe &recipe : generated.sections) {
    auto content = recipe.inlineBytes;
    if (recipe.make) {
      std::vector<std::byte> made(size_t(recipe.sourceBytes));
      if (absl::Status status = recipe.make(made); !status.ok())
        return status;
      content = std::make_shared<const std::vector<std::byte>>(std::move(made));
    }
    if (!content)
      return absl::UnimplementedError("the section lies in a file");
    program.bytes.push_back(content);
    program.executable.sections.push_back({recipe.name, *content});
  }
  return program;
}

namespace {

// The least cycles any machine with one word per link and cycle needs: the busiest cut (between rows, between columns,
// around one core) plus the longest way that some element has to go.
int64_t boundOf(const Sharding &from, const Sharding &to, const Rectangle &rectangle, int64_t bytes) {
  std::vector<std::vector<std::pair<int32_t, int32_t>>> holders(size_t(from.elements()));
  std::vector<int64_t> ids;
  for (int32_t r = 0; r < rectangle.rows; ++r)
    for (int32_t c = 0; c < rectangle.cols; ++c) {
      from.elementsAt(r, c, ids);
      for (int64_t id : ids)
        if (id >= 0)
          holders[size_t(id)].emplace_back(r, c);
    }
  std::vector<std::set<int64_t>> down(size_t(rectangle.rows)), up(size_t(rectangle.rows)), east(size_t(rectangle.cols)),
      west(size_t(rectangle.cols));
  int64_t distance = 0, busiest = 0;
  for (int32_t r = 0; r < rectangle.rows; ++r)
    for (int32_t c = 0; c < rectangle.cols; ++c) {
      to.elementsAt(r, c, ids);
      std::set<int64_t> fetched;
      for (int64_t id : ids) {
        if (id < 0)
          continue;
        int64_t nearest = INT64_MAX;
        int32_t rowLow = INT32_MAX, rowHigh = -1, colLow = INT32_MAX, colHigh = -1;
        for (const auto &[hr, hc] : holders[size_t(id)]) {
          nearest = std::min<int64_t>(nearest, std::abs(hr - r) + std::abs(hc - c));
          rowLow = std::min(rowLow, hr);
          rowHigh = std::max(rowHigh, hr);
          colLow = std::min(colLow, hc);
          colHigh = std::max(colHigh, hc);
        }
        distance = std::max(distance, nearest);
        if (nearest > 0)
          fetched.insert(id);
        for (int32_t cut = rowHigh + 1; cut <= r; ++cut)
          down[size_t(cut)].insert(id);
        for (int32_t cut = r + 1; cut <= rowLow; ++cut)
          up[size_t(cut)].insert(id);
        for (int32_t cut = colHigh + 1; cut <= c; ++cut)
          east[size_t(cut)].insert(id);
        for (int32_t cut = c + 1; cut <= colLow; ++cut)
          west[size_t(cut)].insert(id);
      }
      busiest = std::max<int64_t>(busiest, (int64_t(fetched.size()) * bytes + 3) / 4);
    }
  for (auto *cuts : {&down, &up})
    for (const auto &crossing : *cuts)
      busiest = std::max<int64_t>(busiest,
                                  ((int64_t(crossing.size()) * bytes + 3) / 4 + rectangle.cols - 1) / rectangle.cols);
  for (auto *cuts : {&east, &west})
    for (const auto &crossing : *cuts)
      busiest = std::max<int64_t>(busiest,
                                  ((int64_t(crossing.size()) * bytes + 3) / 4 + rectangle.rows - 1) / rectangle.rows);
  return busiest + distance;
}

} // namespace

absl::StatusOr<PhasesProgram> moveProgram(const Sharding &from, const Sharding &to, const Rectangle &rectangle,
                                          format::ElementType type, const std::function<int64_t(int64_t)> &value,
                                          int64_t roomBytes) {
  auto target = target::loadTarget("mesh-" + std::to_string(rectangle.rows) + "x" + std::to_string(rectangle.cols));
  if (!target.ok())
    return target.status();
  std::vector<Phase> phases(1); // one configuration
  Phase &phase = phases[0];
  ConstantTable constants;
  auto makeConstant = [&](const std::string &name, format::ElementType elementType, int32_t rows, int32_t cols,
                          int64_t elements, std::vector<std::byte> data) {
    format::Buffer buffer;
    buffer.resident = constants.add(name, elementType, rectangle, rows, cols, elements, std::move(data));
    buffer.name = constants.residents.back().name;
    buffer.kind = format::BufferKind::Resident;
    buffer.type = elementType;
    buffer.bytes = constants.residents.back().bytes;
    phase.code.buffers.push_back(buffer);
    return int16_t(phase.code.buffers.size() - 1);
  };
  const int64_t bytes = format::elementBytes(type), padded = wordBytes(type, from.localElements());
  std::vector<std::byte> data;
  std::vector<int64_t> ids;
  for (int32_t r = 0; r < rectangle.rows; ++r)
    for (int32_t c = 0; c < rectangle.cols; ++c) {
      const size_t begin = data.size();
      from.elementsAt(r, c, ids);
      for (int64_t id : ids) {
        const std::vector<std::byte> element = elementOf(double(value(id)), type);
        data.insert(data.end(), element.begin(), element.end());
      }
      data.resize(begin + size_t(padded));
    }
  const int16_t source = makeConstant("held", type, rectangle.rows, rectangle.cols, padded / bytes, std::move(data));
  MoveProblem problem;
  problem.rectangle = rectangle;
  problem.type = type;
  problem.sources = {{from, 0}};
  problem.ids = from.elements();
  problem.width = to.localElements();
  problem.wanted = wantedBy(to);
  problem.roomBytes = roomBytes;
  StridedPiece whole;
  int64_t stride = 1;
  for (size_t d = from.shape.size(); d-- > 0; stride *= from.shape[d])
    whole.digits.insert(whole.digits.begin(), {from.shape[d], stride, stride});
  problem.pieces = {whole};
  problem.target = to;
  auto plan = planBestMove(problem);
  if (!plan.ok())
    return plan.status();
  const Place moved = emitBestMove(phase.code, problem, *plan, {{source, 0}}, to.rectangle, makeConstant);
  // The result stays in a resident of its own, where a test can look at it.
  format::Resident result;
  result.name = kMovedName;
  result.type = type;
  result.bytes = problem.width * bytes;
  result.cores.dims[kRowDim] = {rectangle.rows, rectangle.rows > 1 ? 1 : 0, 0};
  result.cores.dims[kColDim] = {rectangle.cols, 0, rectangle.cols > 1 ? 1 : 0};
  format::Buffer buffer;
  buffer.name = kMovedName;
  buffer.kind = format::BufferKind::Resident;
  buffer.type = type;
  buffer.bytes = result.bytes;
  buffer.resident = int32_t(constants.residents.size());
  constants.residents.push_back(result);
  phase.code.buffers.push_back(buffer);
  phase.code.append(instruction(format::Opcode::Move, type, {problem.width},
                                memory(int16_t(phase.code.buffers.size() - 1), 0, {bytes}),
                                memory(moved.buffer, moved.baseBytes, {bytes})),
                    guardOf(to.rectangle, rectangle));
  EntryPhases entry;
  entry.entry.name = "move";
  entry.phases = std::move(phases);
  auto generated = assemble({std::move(entry)}, {}, rectangle, *target, std::move(constants));
  if (!generated.ok())
    return generated.status();
  auto program = inMemory(*std::move(generated));
  if (!program.ok())
    return program;
  program->boundCycles = plan->isIdentity || (plan->parts.size() == 1 && plan->parts[0].plan.stages.empty())
                             ? 0
                             : boundOf(from, to, rectangle, bytes);
  program->factored = !plan->hops.empty();
  return program;
}

} // namespace wsc::test
