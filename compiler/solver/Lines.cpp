// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Minimum cut between rows and columns: source → row (a row's cores) → column (unbounded, per dead core) → sink (a
// column's cores). Rows that the source no longer reaches and columns that it still does are the cover.
#include "compiler/solver/Lines.h"

#include "compiler/solver/Text.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <limits>

namespace wsc::solver::lines {

namespace {

constexpr int64_t kMostCores = int64_t(1) << 26;

std::vector<bool> marked(int32_t size, const std::vector<int32_t> &lines) {
  std::vector<bool> mark(size, false);
  for (int32_t line : lines)
    mark[line] = true;
  return mark;
}

// Dinic's maximum flow; edges in pairs, e and its reverse e ^ 1.
class Flow {
public:
  explicit Flow(int32_t nodes) : out(nodes), level(nodes), next(nodes) {}

  void edge(int32_t from, int32_t to, int64_t capacity) {
    out[from].push_back(int32_t(edges.size()));
    edges.push_back({to, capacity});
    out[to].push_back(int32_t(edges.size()));
    edges.push_back({from, 0});
  }

  void run(int32_t source, int32_t sink) {
    while (layer(source, sink)) {
      std::fill(next.begin(), next.end(), 0);
      while (push(source, sink))
        ;
    }
  }

  // Whether the source of the last run still reaches the node.
  bool reached(int32_t node) const { return level[node] >= 0; }

private:
  struct Edge {
    int32_t to;
    int64_t left;
  };

  bool layer(int32_t source, int32_t sink) {
    std::fill(level.begin(), level.end(), -1);
    level[source] = 0;
    std::vector<int32_t> queue{source};
    for (size_t head = 0; head < queue.size(); ++head)
      for (int32_t e : out[queue[head]])
        if (edges[e].left > 0 && level[edges[e].to] < 0) {
          level[edges[e].to] = level[queue[head]] + 1;
          queue.push_back(edges[e].to);
        }
    return level[sink] >= 0;
  }

  // One augmenting path along the layers, kept on a stack.
  bool push(int32_t source, int32_t sink) {
    std::vector<int32_t> path;
    int32_t node = source;
    while (node != sink) {
      if (next[node] == int32_t(out[node].size())) {
        if (node == source)
          return false;
        level[node] = -1;
        node = edges[path.back() ^ 1].to;
        path.pop_back();
        ++next[node];
        continue;
      }
      const int32_t e = out[node][next[node]];
      if (edges[e].left > 0 && level[edges[e].to] == level[node] + 1) {
        path.push_back(e);
        node = edges[e].to;
      } else {
        ++next[node];
      }
    }
    int64_t amount = std::numeric_limits<int64_t>::max();
    for (int32_t e : path)
      amount = std::min(amount, edges[e].left);
    for (int32_t e : path) {
      edges[e].left -= amount;
      edges[e ^ 1].left += amount;
    }
    return true;
  }

  std::vector<Edge> edges;
  std::vector<std::vector<int32_t>> out;
  std::vector<int32_t> level, next;
};

} // namespace

absl::Status Problem::check() const {
  if (rows < 1 || cols < 1 || int64_t(rows) * cols > kMostCores)
    return absl::InvalidArgumentError(
        absl::StrCat("a mesh of ", rows, " x ", cols, " cores; 1 to ", kMostCores, " cores are possible"));
  for (const Cell &cell : deadCores)
    if (cell.row < 0 || cell.row >= rows || cell.col < 0 || cell.col >= cols)
      return absl::InvalidArgumentError(
          absl::StrCat("dead core (", cell.row, ", ", cell.col, ") lies outside the mesh of ", rows, " x ", cols));
  for (int32_t row : deadRows)
    if (row < 0 || row >= rows)
      return absl::InvalidArgumentError(absl::StrCat("dead row ", row, "; the mesh has ", rows));
  for (int32_t col : deadCols)
    if (col < 0 || col >= cols)
      return absl::InvalidArgumentError(absl::StrCat("dead column ", col, "; the mesh has ", cols));
  return absl::OkStatus();
}

absl::Status Solution::verify(const Problem &problem) const {
  for (const auto &[kept, most, what] :
       {std::tuple(&rows, problem.rows, "row"), std::tuple(&cols, problem.cols, "column")})
    for (size_t i = 0; i < kept->size(); ++i)
      if ((*kept)[i] < 0 || (*kept)[i] >= most || (i > 0 && (*kept)[i] <= (*kept)[i - 1]))
        return absl::FailedPreconditionError(
            absl::StrCat(what, " ", (*kept)[i], " is kept out of order, twice or outside of ", most));
  if (rows.empty() || cols.empty())
    return absl::FailedPreconditionError(absl::StrCat("no ", rows.empty() ? "row" : "column", " is kept"));
  const std::vector<bool> row = marked(problem.rows, rows), col = marked(problem.cols, cols);
  for (const Cell &cell : problem.deadCores)
    if (row[cell.row] && col[cell.col])
      return absl::FailedPreconditionError(
          absl::StrCat("dead core (", cell.row, ", ", cell.col, ") is on a kept row and column"));
  for (int32_t line : problem.deadRows)
    if (row[line])
      return absl::FailedPreconditionError(absl::StrCat("row ", line, " has a dead link and is kept"));
  for (int32_t line : problem.deadCols)
    if (col[line])
      return absl::FailedPreconditionError(absl::StrCat("column ", line, " has a dead link and is kept"));
  return absl::OkStatus();
}

absl::StatusOr<Solution> solve(const Problem &problem) {
  if (auto status = problem.check(); !status.ok())
    return status;
  std::vector<bool> rowGone = marked(problem.rows, problem.deadRows), colGone = marked(problem.cols, problem.deadCols);
  const int32_t source = problem.rows + problem.cols, sink = source + 1;
  Flow flow(sink + 1);
  for (int32_t row = 0; row < problem.rows; ++row)
    flow.edge(source, row, problem.cols);
  for (int32_t col = 0; col < problem.cols; ++col)
    flow.edge(problem.rows + col, sink, problem.rows);
  for (const Cell &cell : problem.deadCores)
    if (!rowGone[cell.row] && !colGone[cell.col])
      flow.edge(cell.row, problem.rows + cell.col, kMostCores);
  flow.run(source, sink);
  Solution solution;
  for (int32_t row = 0; row < problem.rows; ++row)
    if (!rowGone[row] && flow.reached(row))
      solution.rows.push_back(row);
  for (int32_t col = 0; col < problem.cols; ++col)
    if (!colGone[col] && !flow.reached(problem.rows + col))
      solution.cols.push_back(col);
  if (solution.rows.empty() || solution.cols.empty())
    return absl::ResourceExhaustedError(
        absl::StrCat("defects leave no ", solution.rows.empty() ? "row" : "column", " of the mesh of ", problem.rows,
                     " x ", problem.cols, ": ", problem.deadCores.size(), " dead cores, ", problem.deadRows.size(),
                     " dead horizontal and ", problem.deadCols.size(), " dead vertical links"));
  return solution;
}

Stats evaluate(const Problem &problem, const Solution &solution) {
  Stats stats;
  stats.value = (problem.rows - int64_t(solution.rows.size())) * problem.cols +
                (problem.cols - int64_t(solution.cols.size())) * problem.rows;
  std::vector<int64_t> rowLeft(problem.rows, problem.cols), colLeft(problem.cols, problem.rows);
  for (int32_t row : problem.deadRows)
    stats.lowerBound += std::exchange(rowLeft[row], 0);
  for (int32_t col : problem.deadCols)
    stats.lowerBound += std::exchange(colLeft[col], 0);
  const std::vector<bool> rowGone = marked(problem.rows, problem.deadRows),
                          colGone = marked(problem.cols, problem.deadCols);
  for (const Cell &cell : problem.deadCores) {
    if (rowGone[cell.row] || colGone[cell.col])
      continue;
    const int64_t amount = std::min(rowLeft[cell.row], colLeft[cell.col]);
    rowLeft[cell.row] -= amount;
    colLeft[cell.col] -= amount;
    stats.lowerBound += amount;
  }
  return stats;
}

absl::StatusOr<Problem> parseProblem(const std::string &text) {
  return readProblem<Problem>(
      text, "lines",
      {{"mesh",
        [](LineReader &in, Problem &problem) {
          problem.rows = in.integer32("rows");
          problem.cols = in.integer32("columns");
        }},
       {"dead",
        [](LineReader &in, Problem &problem) {
          Cell cell;
          cell.row = in.integer32("row");
          cell.col = in.integer32("column");
          problem.deadCores.push_back(cell);
        }},
       {"dead-row", [](LineReader &in, Problem &problem) { problem.deadRows.push_back(in.integer32("row")); }},
       {"dead-col", [](LineReader &in, Problem &problem) { problem.deadCols.push_back(in.integer32("column")); }}});
}

std::string printProblem(const Problem &problem) {
  std::string text = absl::StrCat("wsc-problem lines 1\nmesh ", problem.rows, " ", problem.cols, "\n");
  for (const Cell &cell : problem.deadCores)
    absl::StrAppend(&text, "dead ", cell.row, " ", cell.col, "\n");
  for (int32_t row : problem.deadRows)
    absl::StrAppend(&text, "dead-row ", row, "\n");
  for (int32_t col : problem.deadCols)
    absl::StrAppend(&text, "dead-col ", col, "\n");
  return text;
}

absl::StatusOr<Solution> parseSolution(const std::string &text, const Problem &problem) {
  LineReader reader(text, "wsc-solution", "lines");
  std::vector<bool> rowGone(problem.rows), colGone(problem.cols);
  while (reader.next()) {
    const bool isRow = reader.keyword() == "row";
    if (!isRow && reader.keyword() != "col")
      reader.failKeyword("row or col");
    const int64_t line = reader.integer("line", 0, (isRow ? problem.rows : problem.cols) - 1);
    reader.endLine();
    if (reader.ok())
      (isRow ? rowGone : colGone)[line] = true;
  }
  if (!reader.ok())
    return reader.status();
  Solution solution;
  for (int32_t row = 0; row < problem.rows; ++row)
    if (!rowGone[row])
      solution.rows.push_back(row);
  for (int32_t col = 0; col < problem.cols; ++col)
    if (!colGone[col])
      solution.cols.push_back(col);
  return solution;
}

std::string printSolution(const Problem &problem, const Solution &solution) {
  std::string text = "wsc-solution lines 1\n";
  const std::vector<bool> row = marked(problem.rows, solution.rows), col = marked(problem.cols, solution.cols);
  for (int32_t r = 0; r < problem.rows; ++r)
    if (!row[r])
      absl::StrAppend(&text, "row ", r, "\n");
  for (int32_t c = 0; c < problem.cols; ++c)
    if (!col[c])
      absl::StrAppend(&text, "col ", c, "\n");
  return text;
}

} // namespace wsc::solver::lines
