// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text form of allocation problems and solutions.
#include "compiler/solver/Allocation.h"
#include "compiler/solver/Text.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace wsc::solver::allocation {

absl::StatusOr<Problem> parseProblem(const std::string &text) {
  LineReader in(text, "wsc-problem", "allocation");
  Problem problem;
  while (in.next()) {
    if (in.keyword() == "range") {
      problem.begin = in.integer("begin");
      problem.limit = in.integer("limit");
    } else if (in.keyword() == "banks") {
      problem.bankBytes = in.integer("bytes");
    } else if (in.keyword() == "buffer") {
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
    } else {
      in.failKeyword("'range', 'banks' or 'buffer'");
    }
    in.endLine();
  }
  if (!in.ok())
    return in.status();
  if (absl::Status status = problem.check(); !status.ok())
    return status;
  return problem;
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
  LineReader in(text, "wsc-solution", "allocation");
  Solution solution;
  while (in.next()) {
    size_t b = solution.addressOf.size();
    expectEntry(in, "buffer", b, problem.buffers.size(), b < problem.buffers.size() ? problem.buffers[b].name : "");
    solution.addressOf.push_back(in.integer("address"));
    in.endLine();
  }
  if (!in.ok())
    return in.status();
  return solution;
}

std::string printSolution(const Problem &problem, const Solution &solution) {
  std::string text = "wsc-solution allocation 1\n";
  for (size_t b = 0; b < std::min(problem.buffers.size(), solution.addressOf.size()); ++b)
    absl::StrAppend(&text, "buffer ", quoted(problem.buffers[b].name), " ", solution.addressOf[b], "\n");
  return text;
}

} // namespace wsc::solver::allocation
