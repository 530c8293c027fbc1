// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads target descriptions. FlatBuffers' JSON parser checks the text against target.fbs, so syntax, unknown fields and
// types are refused with line and column; the name of the field is found by walking the text. Values are then judged,
// and a bad value is located the same way.
#include "absl/strings/str_cat.h"
#include "runtime/target/Fields.h"

#include "flatbuffers/idl.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <memory>

namespace wsc::target {

extern const std::string_view embedded_target_fbs;

namespace {

struct Place {
  int line = 0, column = 0; // from 1; 0: not in this text
};

// Calls visit(key, depth, place) for each key of the objects of `json`, in order. Tolerates any text.
template <typename Visit> void walkKeys(const std::string &json, Visit visit) {
  int depth = 0, line = 1;
  size_t lineStart = 0;
  for (size_t i = 0; i < json.size(); ++i) {
    char c = json[i];
    if (c == '\n') {
      ++line;
      lineStart = i + 1;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      --depth;
    } else if (c == '/' && i + 1 < json.size() && json[i + 1] == '/') {
      while (i + 1 < json.size() && json[i + 1] != '\n')
        ++i;
    } else if (c == '"') {
      Place place{line, static_cast<int>(i - lineStart) + 1};
      std::string key;
      for (++i; i < json.size() && json[i] != '"' && json[i] != '\n'; ++i) {
        if (json[i] == '\\')
          ++i;
        else
          key += json[i];
      }
      size_t next = i + 1;
      while (next < json.size() && std::isspace(static_cast<unsigned char>(json[next])))
        ++next;
      if (next < json.size() && json[next] == ':')
        visit(key, depth, place);
      if (i < json.size() && json[i] == '\n')
        --i;
    }
  }
}

Place placeOfField(const std::string &json, const std::string &field) {
  Place found;
  walkKeys(json, [&](const std::string &key, int depth, Place place) {
    if (depth == 1 && key == field && found.line == 0)
      found = place;
  });
  return found;
}

struct Key {
  std::string name;
  Place place;
};

Key lastKeyBefore(const std::string &json, Place limit) {
  Key found;
  walkKeys(json, [&](const std::string &name, int, Place place) {
    if (place.line < limit.line || (place.line == limit.line && place.column <= limit.column))
      found = {name, place};
  });
  return found;
}

absl::Status errorAt(const std::string &where, Place place, const std::string &message) {
  if (place.line == 0)
    return absl::InvalidArgumentError(absl::StrCat(where, ": ", message));
  return absl::InvalidArgumentError(absl::StrCat(where, ":", place.line, ":", place.column, ": ", message));
}

// The parser says "LINE: COLUMN: error: TEXT", the column being where its last token ended. Syntax errors are reported
// there, others at the key of the field they are about.
absl::Status parserError(const std::string &json, const std::string &where, const std::string &error) {
  Place place;
  int textStart = 0;
  if (std::sscanf(error.c_str(), "%d: %d: error: %n", &place.line, &place.column, &textStart) < 2 || textStart == 0)
    return absl::InvalidArgumentError(absl::StrCat(where, ": not a target description: ", error));
  place.column = std::max(place.column, 1);
  std::string message = error.substr(textStart);
  while (!message.empty() && std::isspace(static_cast<unsigned char>(message.back())))
    message.pop_back();
  if (message.rfind("enum values", 0) == 0)
    message = "a number is expected, not a word";
  Key key = lastKeyBefore(json, place);
  if (key.place.line == 0)
    return errorAt(where, place, message);
  if (message.rfind("expecting", 0) == 0)
    return errorAt(where, place, absl::StrCat("after field \"", key.name, "\": ", message));
  return errorAt(where, key.place, absl::StrCat("field \"", key.name, "\": ", message));
}

} // namespace

// A parser that knows the schema of descriptions. Reading the schema takes longer than reading a description, so each
// thread keeps one; after an error it is made anew, for it may hold parts of the text that was refused.
static absl::StatusOr<flatbuffers::Parser *> schemaParser(bool renew = false) {
  thread_local std::unique_ptr<flatbuffers::Parser> kept;
  if (renew)
    kept.reset();
  if (!kept) {
    flatbuffers::IDLOptions options;
    options.strict_json = true;
    auto parser = std::make_unique<flatbuffers::Parser>(options);
    if (!parser->Parse(std::string(embedded_target_fbs).c_str()))
      return absl::InternalError(absl::StrCat("the schema of target descriptions does not parse: ", parser->error_));
    kept = std::move(parser);
  }
  return kept.get();
}

// A description that owns its bytes.
class Parsed {
public:
  explicit Parsed(flatbuffers::DetachedBuffer bytes) : bytes(std::move(bytes)) {}
  const schema::Description &operator*() const { return *flatbuffers::GetRoot<schema::Description>(bytes.data()); }
  const schema::Description *operator->() const { return &**this; }

private:
  flatbuffers::DetachedBuffer bytes;
};

static absl::StatusOr<Parsed> parseJson(const std::string &json, const std::string &where) {
  if (json.size() > kMaxDescriptionBytes)
    return absl::InvalidArgumentError(
        absl::StrCat(where, ": a target description of ", json.size(), " bytes; the limit is ", kMaxDescriptionBytes));
  if (json.find('\0') != std::string::npos)
    return absl::InvalidArgumentError(absl::StrCat(where, ": a target description is text; this holds a zero byte"));
  absl::StatusOr<flatbuffers::Parser *> parser = schemaParser();
  if (!parser.ok())
    return parser.status();
  if (!(*parser)->ParseJson(json.c_str())) {
    absl::Status error = parserError(json, where, (*parser)->error_);
    (void)schemaParser(/*renew=*/true);
    return error;
  }
  return Parsed((*parser)->builder_.Release());
}

absl::StatusOr<Described> describe(const std::string &json, const std::string &where) {
  absl::StatusOr<Parsed> parsed = parseJson(json, where);
  if (!parsed.ok())
    return parsed.status();
  const schema::Description &description = **parsed;

  Described described;
  bool inherits = description.base() != nullptr;
  if (inherits) {
    std::string base = description.base()->str();
    std::string text = builtinDescription(base);
    if (text.empty())
      return errorAt(where, placeOfField(json, "base"),
                     absl::StrCat("field \"base\": no built-in target \"", base, "\"; there are wse1, wse2 and wse3"));
    absl::StatusOr<Described> inherited = describe(text, base);
    if (!inherited.ok())
      return inherited.status();
    described = *std::move(inherited);
    described.inherits = true;
  }
  if (description.name())
    described.target.name = description.name()->str();
  else if (!inherits)
    return absl::InvalidArgumentError(absl::StrCat(where, ": field \"name\" is missing"));
  for (const Field &field : fields()) {
    bool given = field.read(description, described.target);
    if (!given && !inherits && field.required)
      return absl::InvalidArgumentError(
          absl::StrCat(where, ": field \"", field.name,
                       "\" is missing; give it, or start from a built-in target with \"base\": \"wse2\""));
    const flatbuffers::String *source = description.sources() ? field.source(*description.sources()) : nullptr;
    if (source)
      described.sources[field.name] = source->str();
    else if (given)
      described.sources[field.name] = "not stated";
  }
  return described;
}

absl::StatusOr<Target> parseDefects(const std::string &json, const std::string &where, const Target &target) {
  absl::StatusOr<Parsed> parsed = parseJson(json, where);
  if (!parsed.ok())
    return parsed.status();
  for (const auto &[text, name] : {std::pair((*parsed)->name(), "name"), std::pair((*parsed)->base(), "base")})
    if (text)
      return errorAt(where, placeOfField(json, name),
                     absl::StrCat("field \"", name, "\": a file of defects holds dead_cores and dead_links only"));
  Target defects = target;
  defects.deadCores.clear();
  defects.deadLinks.clear();
  for (const Field &field : fields())
    if (Target scratch; std::string_view(field.name).substr(0, 5) == "dead_")
      field.read(**parsed, defects);
    else if (field.read(**parsed, scratch))
      return errorAt(
          where, placeOfField(json, field.name),
          absl::StrCat("field \"", field.name, "\": a file of defects holds dead_cores and dead_links only"));
  if (!defects.hasDefects())
    return absl::InvalidArgumentError(absl::StrCat(where, ": neither dead_cores nor dead_links are listed"));
  if (std::optional<Problem> problem = findProblem(defects))
    return errorAt(where, placeOfField(json, problem->field),
                   absl::StrCat("field \"", problem->field, "\": ", problem->message));
  defects.deadCores.insert(defects.deadCores.end(), target.deadCores.begin(), target.deadCores.end());
  defects.deadLinks.insert(defects.deadLinks.end(), target.deadLinks.begin(), target.deadLinks.end());
  if (std::optional<Problem> problem = findProblem(defects))
    return absl::InvalidArgumentError(absl::StrCat(where, ": field \"", problem->field, "\": ", problem->message));
  absl::StatusOr<Described> described = describe(target.json, target.name);
  if (!described.ok())
    return described.status();
  described->target = defects;
  described->sources["dead_cores"] = described->sources["dead_links"] = where;
  defects.json = printDescription(*described);
  return defects;
}

static absl::StatusOr<Target> parse(const std::string &json, const std::string &where, bool complete) {
  absl::StatusOr<Described> described = describe(json, where);
  if (!described.ok())
    return described.status();
  if (complete && described->inherits)
    return errorAt(where, placeOfField(json, "base"),
                   "field \"base\": the description of target " + described->target.name + " is not complete");
  if (std::optional<Problem> problem = findProblem(described->target))
    return errorAt(where, placeOfField(json, problem->field),
                   absl::StrCat("field \"", problem->field, "\": ", problem->message));
  described->target.json = printDescription(*described);
  return std::move(described->target);
}

absl::StatusOr<Target> parseTarget(const std::string &json, const std::string &where) {
  return parse(json, where, false);
}

absl::StatusOr<Target> parseCompleteTarget(const std::string &json, const std::string &where) {
  return parse(json, where, true);
}

std::string targetJson(const Target &target) {
  Described described;
  absl::StatusOr<Described> origin = describe(target.json, target.name);
  for (const Field &field : fields()) {
    bool same = origin.ok() && field.print(origin->target) == field.print(target);
    described.sources[field.name] = same ? origin->sources[field.name] : "set by program";
  }
  described.target = target;
  return printDescription(described);
}

} // namespace wsc::target
