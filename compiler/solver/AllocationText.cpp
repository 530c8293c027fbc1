// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text form of allocation problems and solutions.
#include "compiler/solver/Allocation.h"
#include "compiler/solver/Text.h"

#include "absl/strings/str_cat.h"

namespace wsc::solver::allocation {

absl::StatusOr<Problem> parseProblem(const std::string &text) {
  return readProblem<Problem>(
      text, "allocation",
      {{"range",
        [](LineReader &in, Problem &problem) {
          problem.begin = in.integer("begin");
          problem.limit = in.integer("limit");
        }},
       {"banks", [](LineReader &in, Problem &problem) { problem.bankBytes = in.integer("bytes"); }},
       {"buffer", [](LineReader &in, Problem &problem) {
          Buffer buffer;
          buffer.name = in.word("name");
          buffer.bytes = in.integer("bytes");
          if (in.accept("align"))
            buffer.alignment = in.integer("alignment");
          if (in.accept("bank"))
            buffer.preferredBank = in.integer32("bank");
          if (in.accept("life")) {
            buffer.lifeBegin = in.integer("begin of life");
            if (!in.accept("forever"))
              buffer.lifeEnd = in.integer("end of life");
          }
          problem.buffers.push_back(buffer);
        }}});
}

std::string printProblem(const Problem &problem) {
  std::string text = absl::StrCat("wsc-problem allocation 1\nrange ", problem.begin, " ", problem.limit, "\n");
  if (problem.bankBytes)
    absl::StrAppend(&text, "banks ", problem.bankBytes, "\n");
  for (const Buffer &buffer : problem.buffers) {
    absl::StrAppend(&text, "buffer ", quoted(buffer.name), " ", buffer.bytes);
    if (buffer.alignment != 1)
      absl::StrAppend(&text, " align ", buffer.alignment);
    if (buffer.preferredBank)
      absl::StrAppend(&text, " bank ", *buffer.preferredBank);
    if (buffer.lifeBegin != 0 || buffer.lifeEnd != kForever) {
      absl::StrAppend(&text, " life ", buffer.lifeBegin, " ");
      if (buffer.lifeEnd == kForever)
        absl::StrAppend(&text, "forever");
      else
        absl::StrAppend(&text, buffer.lifeEnd);
    }
    absl::StrAppend(&text, "\n");
  }
  return text;
}

absl::StatusOr<Solution> parseSolution(const std::string &text, const Problem &problem) {
  Solution solution;
  absl::Status status = readSolution(text, "allocation", "buffer", problem.buffers,
                                     [&](LineReader &in) { solution.addressOf.push_back(in.integer("address")); });
  if (!status.ok())
    return status;
  return solution;
}

std::string printSolution(const Problem &problem, const Solution &solution) {
  return writeSolution("allocation", "buffer", problem.buffers, solution.addressOf,
                       [](int64_t address) { return absl::StrCat(" ", address); });
}

} // namespace wsc::solver::allocation
