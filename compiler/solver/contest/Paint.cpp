// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads and writes .paint files: per kernel its definition with arguments, its name and its place, at the end the union
// of all.
#include "compiler/solver/contest/Contest.h"
#include "compiler/solver/contest/Scanner.h"

#include <algorithm>
#include <map>

namespace wsc::solver::contest {

absl::StatusOr<Solution> parsePaint(const std::string &text, const Problem &problem) {
  Scanner in(text);
  Solution solution;
  solution.places.resize(problem.kernels.size());
  std::vector<bool> isDefined(problem.kernels.size()), isPlaced(problem.kernels.size());
  std::map<std::string, int32_t> indexOf;
  for (size_t i = 0; i < problem.kernels.size(); ++i)
    if (!problem.kernels[i].convolutions.empty())
      indexOf[problem.kernels[i].name] = int32_t(i);
  auto find = [&](const std::string &word) -> int32_t {
    auto found = indexOf.find(withoutLeadingZeros(word));
    if (found == indexOf.end()) {
      in.fail(absl::StrCat("the problem has no kernel '", word, "'"));
      return -1;
    }
    return found->second;
  };
  while (!in.atEnd()) {
    std::string word = in.word("a kernel");
    if (word == "include") {
      in.expect("\"");
      in.until("\"");
    } else if (in.accept("=")) {
      if (in.accept("union")) {
        in.expect("(");
        while (in.ok() && !in.accept(")"))
          find(in.word("a kernel"));
        continue;
      }
      int32_t index = find(word);
      std::string kind = in.word("a kind of kernel");
      if (!in.ok())
        break;
      const Kernel &kernel = problem.kernels[index];
      if (kind != name(kernel.kind))
        in.fail(absl::StrCat(word, " is a ", kind, ", in the problem a ", name(kernel.kind)));
      if (isDefined[index])
        in.fail(absl::StrCat(word, " is defined twice"));
      isDefined[index] = true;
      in.expect("(");
      for (int64_t formal : kernel.formals)
        if (int64_t value = in.integer("argument", 1, kMostArgument); in.ok() && value != formal)
          in.fail(absl::StrCat(word, " has argument ", value, ", in the problem ", formal));
      if (!solution.places[index])
        solution.places[index].emplace();
      Execution &execution = solution.places[index]->execution;
      execution.h = in.integer("h", 1, kMostArgument);
      execution.w = in.integer("w", 1, kMostArgument);
      for (size_t i = 0; i < kernel.convolutions.size(); ++i)
        execution.c.push_back(in.integer("c", 1, kMostArgument));
      for (size_t i = 0; i < kernel.convolutions.size(); ++i)
        execution.k.push_back(in.integer("k", 1, kMostArgument));
      in.expect(")");
    } else {
      in.expect(":");
      int32_t index = find(word);
      if (!in.ok())
        break;
      if (in.accept("name")) {
        in.expect("('");
        if (find(in.word("a name")) != index)
          in.fail(absl::StrCat(word, " is given the name of another kernel"));
        in.expect(")");
      } else {
        in.expect("place");
        in.expect("(");
        if (!solution.places[index])
          solution.places[index].emplace();
        if (isPlaced[index])
          in.fail(absl::StrCat(word, " is placed twice"));
        isPlaced[index] = true;
        solution.places[index]->x = in.integer("x", -(1 << 20), 1 << 20);
        solution.places[index]->y = in.integer("y", -(1 << 20), 1 << 20);
        solution.places[index]->rotated = in.accept("R90");
        if (!solution.places[index]->rotated)
          in.expect("R0");
        in.expect(")");
      }
    }
  }
  for (const auto &[kernel, index] : indexOf)
    if (isDefined[index] != isPlaced[index])
      in.fail(absl::StrCat(kernel, isDefined[index] ? " is defined but not placed" : " is placed but not defined"));
  if (!in.ok())
    return in.status();
  return solution;
}

std::string printPaint(const Problem &problem, const Solution &solution) {
  std::string text = "include \"common.paint\"\n", names;
  for (size_t i = 0; i < std::min(problem.kernels.size(), solution.places.size()); ++i) {
    if (!solution.places[i])
      continue;
    const Kernel &kernel = problem.kernels[i];
    const Place &place = *solution.places[i];
    absl::StrAppend(&text, kernel.name, " = ", name(kernel.kind), "(");
    for (int64_t formal : kernel.formals)
      absl::StrAppend(&text, " ", formal);
    absl::StrAppend(&text, " ", place.execution.h, " ", place.execution.w);
    for (int64_t c : place.execution.c)
      absl::StrAppend(&text, " ", c);
    for (int64_t k : place.execution.k)
      absl::StrAppend(&text, " ", k);
    absl::StrAppend(&text, " )\n", kernel.name, " : name('", kernel.name, ")\n", kernel.name, " : place(", place.x, " ",
                    place.y, place.rotated ? " R90)\n" : " R0)\n");
    absl::StrAppend(&names, " ", kernel.name);
  }
  return text + "kmap = union(" + names + " )\n";
}

} // namespace wsc::solver::contest
