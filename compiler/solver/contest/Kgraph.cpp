// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads .kgraph files: a header of key=value words in the first comment, node definitions, connections.
#include "compiler/solver/contest/Contest.h"
#include "compiler/solver/contest/Scanner.h"

#include <map>

namespace wsc::solver::contest {

const char *name(Kind kind) {
  switch (kind) {
  case Kind::Input:
    return "input";
  case Kind::Output:
    return "output";
  case Kind::Conv:
    return "conv";
  case Kind::Dblock:
    return "dblock";
  case Kind::Cblock:
    return "cblock";
  }
  return "";
}

std::string withoutLeadingZeros(const std::string &name) {
  size_t digits = name.find_first_of("0123456789");
  if (digits == std::string::npos)
    return name;
  size_t end = digits;
  while (end + 1 < name.size() && name[end] == '0' && std::isdigit(static_cast<unsigned char>(name[end + 1])))
    ++end;
  return name.substr(0, digits) + name.substr(end);
}

namespace {

void readHeader(Scanner &in, Problem &problem) {
  in.expect("(*");
  std::map<std::string, int64_t *> fields{
      {"width", &problem.width},        {"height", &problem.height},          {"wdeltat", &problem.timeWeight},
      {"wlength", &problem.wireWeight}, {"wadapter", &problem.adapterWeight}, {"memlimit", &problem.memoryLimit}};
  while (in.ok() && !in.accept("*)")) {
    std::string key = in.word("a header field");
    in.expect("=");
    if (key == "test") {
      problem.name = in.word("the name of the test");
      while (in.accept("-"))
        problem.name += "-" + in.word("the name of the test");
    } else if (auto field = fields.find(key); field != fields.end()) {
      *field->second = in.integer(key.c_str(), 0, 1 << 20);
      fields.erase(field);
    } else {
      in.fail(absl::StrCat("unknown or repeated header field '", key, "'"));
    }
  }
  if (!fields.empty())
    in.fail(absl::StrCat("the header lacks '", fields.begin()->first, "'"));
}

// The convolutions of a kernel from its attributes; false: an attribute is missing or odd.
bool buildKernel(Kernel &kernel, std::map<std::string, int64_t> &attributes, Scanner &in, int64_t line) {
  auto take = [&](const char *key, int64_t most) -> int64_t {
    auto found = attributes.find(key);
    if (found == attributes.end()) {
      in.failAt(line, absl::StrCat(contest::name(kernel.kind), " ", kernel.name, " lacks '", key, "'"));
      return 1;
    }
    if (found->second > most)
      in.failAt(line, absl::StrCat(kernel.name, ": ", key, " is ", found->second, ", the limit is ", most));
    return found->second;
  };
  if (kernel.kind == Kind::Conv) {
    Convolution conv{take("H", kMostArgument), take("W", kMostArgument), take("R", kMostWindow), take("S", kMostWindow),
                     take("C", kMostArgument), take("K", kMostArgument), take("T", kMostWindow)};
    if (int64_t u = take("U", kMostWindow); u != conv.T)
      in.failAt(line, absl::StrCat(kernel.name, ": strides T ", conv.T, " and U ", u, " must be equal"));
    kernel.convolutions = {conv};
    kernel.formals = {conv.H, conv.W, conv.C, conv.K, conv.R, conv.S, conv.T, conv.T};
  } else if (kernel.kind == Kind::Dblock || kernel.kind == Kind::Cblock) {
    int64_t H = take("h", kMostArgument), W = take("w", kMostArgument), F = take("f", kMostArgument);
    kernel.formals = {H, W, F};
    if (F % 4 != 0 || (kernel.kind == Kind::Cblock && (H % 2 != 0 || W % 2 != 0)))
      in.failAt(line, absl::StrCat(kernel.name, ": f=", F, " must be a multiple of 4",
                                   kernel.kind == Kind::Cblock ? ", h and w of 2" : ""));
    if (kernel.kind == Kind::Dblock)
      kernel.convolutions = {{H, W, 1, 1, F, F / 4, 1}, {H, W, 3, 3, F / 4, F / 4, 1}, {H, W, 1, 1, F / 4, F, 1}};
    else
      kernel.convolutions = {{H, W, 1, 1, F / 2, F / 4, 1},
                             {H, W, 3, 3, F / 4, F / 4, 2},
                             {H / 2, W / 2, 1, 1, F / 4, F, 1},
                             {H, W, 1, 1, F / 2, F, 2}};
  }
  return in.ok();
}

} // namespace

absl::StatusOr<Problem> parseKgraph(const std::string &text) {
  Scanner in(text);
  Problem problem;
  readHeader(in, problem);
  std::map<int64_t, int32_t> indexOf; // number in the file → kernel
  std::map<std::string, int32_t> names;
  std::string word = in.atEnd() ? "" : in.word("a node");
  auto readNumber = [&] {
    in.expect("[");
    int64_t number = in.integer("node number", 0, 1 << 20);
    in.expect("]");
    return number;
  };
  while (in.ok() && !word.empty()) {
    int64_t number = readNumber(), line = in.currentLine();
    std::string kindName = word;
    word.clear();
    if (in.accept(":")) {
      in.word("a port");
      in.expect("->");
      std::string toKind = in.word("a node");
      int64_t toNumber = readNumber();
      in.expect(":");
      in.word("a port");
      if (in.accept(",")) {
        in.expect("shape");
        in.expect(":");
        while (in.accept("[")) {
          in.integer("extent", 1, 1 << 20);
          in.expect("]");
        }
      }
      auto find = [&](const std::string &kind, int64_t wanted) -> int32_t {
        auto found = indexOf.find(wanted);
        if (found == indexOf.end() || kind != name(problem.kernels[found->second].kind)) {
          in.fail(absl::StrCat("a connection names ", kind, "[", wanted, "], which is not defined"));
          return 0;
        }
        return found->second;
      };
      Connection connection{find(kindName, number), find(toKind, toNumber)};
      problem.connections.push_back(connection);
      if (!in.atEnd())
        word = in.word("a node");
      continue;
    }
    Kernel kernel;
    bool known = false;
    for (Kind kind : {Kind::Input, Kind::Output, Kind::Conv, Kind::Dblock, Kind::Cblock})
      if (kindName == name(kind)) {
        kernel.kind = kind;
        known = true;
      }
    if (!known)
      in.fail(absl::StrCat("unknown kind of node '", kindName, "'"));
    std::map<std::string, int64_t> attributes;
    while (!in.atEnd()) {
      word = in.word("an attribute or a node");
      if (!in.accept("="))
        break; // the next node or connection
      if (word == "name") {
        in.expect("'");
        kernel.name = withoutLeadingZeros(in.word("a name"));
        in.expect("'");
      } else if (in.accept("[")) {
        while (in.ok() && !in.accept("]"))
          in.integer("extent", 1, 1 << 20);
      } else {
        attributes[word] = in.integer(word.c_str(), 1, 1 << 20);
      }
      word.clear();
    }
    if (kernel.name.empty())
      in.fail(absl::StrCat(kindName, "[", number, "] has no name"));
    if (!buildKernel(kernel, attributes, in, line))
      break;
    int32_t index = int32_t(problem.kernels.size());
    if (!indexOf.emplace(number, index).second || !names.emplace(kernel.name, index).second)
      in.fail(absl::StrCat("node ", number, " or name '", kernel.name, "' is defined twice"));
    problem.kernels.push_back(kernel);
  }
  if (!in.ok())
    return in.status();
  return problem;
}

} // namespace wsc::solver::contest
