#include "trace/source_lines.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <charconv>

#include "trace/file_beside.h"

namespace doctor {
namespace {

namespace dom = simdjson::dom;
namespace fs = std::filesystem;

constexpr std::string_view kFileBesideTrace = "dataset-lines.json";
constexpr std::string_view kLinesSchema = "tfdata-doctor.lines/1";

// Code that is longer is cut; an entry with a longer path, or a line after this one, does not count.
constexpr std::size_t kLongestCode = 1000;
constexpr std::size_t kLongestPath = 4096;
constexpr std::uint64_t kLastLine = 10'000'000;

/// The line number at the start of the text, and how many digits it has.
std::optional<std::pair<std::uint64_t, std::size_t>> leading_line(std::string_view text) {
  std::uint64_t line = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), line);
  if (error != std::errc{} || line == 0 || line > kLastLine) return std::nullopt;
  return std::pair(line, static_cast<std::size_t>(end - text.data()));
}

bool are_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// `input_py` -> "input.py"; a cell of a notebook: `In_5` -> "In[5]". Empty for what is neither.
std::string file_of_name(std::string_view words) {
  constexpr std::string_view kPython = "_py";
  constexpr std::string_view kCell = "In_";
  if (words.ends_with(kPython) && words.size() > kPython.size()) {
    return std::string(words.substr(0, words.size() - kPython.size())) + ".py";
  }
  if (!words.starts_with(kCell) || !are_digits(words.substr(kCell.size()))) return {};
  return fmt::format("In[{}]", words.substr(kCell.size()));
}

/// "map_2" -> "map".
std::string_view without_number(std::string_view method) {
  const std::size_t last = method.rfind('_');
  return last != std::string_view::npos && are_digits(method.substr(last + 1)) ? method.substr(0, last) : method;
}

/// The part of a UTF-8 text up to so many bytes, without half a character.
std::string_view beginning_of(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0U) == 0x80U) --bytes;
  return text.substr(0, bytes);
}

std::string_view text_of(const dom::object& object, std::string_view key) {
  std::string_view text;
  return object.at_key(key).get(text) == simdjson::SUCCESS ? text : std::string_view{};
}

/// The path below `root`, with '/' between its parts; empty if it is not below.
std::string path_below(std::string_view root, std::string_view path) {
  while (root.ends_with('/') || root.ends_with('\\')) root.remove_suffix(1);
  if (root.empty() || !path.starts_with(root)) return {};
  path.remove_prefix(root.size());
  if (path.size() < 2 || (path.front() != '/' && path.front() != '\\')) return {};
  std::string below(path.substr(1));
  std::replace(below.begin(), below.end(), '\\', '/');
  return below;
}

/// nullopt where the entry does not say file and line.
std::optional<SourceLine> source_line_of(const dom::element& entry, std::string_view root) {
  dom::object object;
  std::uint64_t line = 0;
  if (entry.get(object) != simdjson::SUCCESS || object.at_key("line").get(line) != simdjson::SUCCESS) {
    return std::nullopt;
  }
  const std::string_view file = text_of(object, "file");
  if (file.empty() || file.size() > kLongestPath || line == 0 || line > kLastLine) return std::nullopt;
  SourceLine place{std::string(file), line, std::string(beginning_of(text_of(object, "code"), kLongestCode)),
                   path_below(root, file), std::nullopt};
  bool has_parallel_calls = false;
  if (object.at_key("num_parallel_calls").get(has_parallel_calls) == simdjson::SUCCESS) {
    place.has_parallel_calls = has_parallel_calls;
  }
  return place;
}

}  // namespace

std::optional<NamedLine> line_of_name(std::string_view name) {
  constexpr std::string_view kStart = "at_";
  constexpr std::string_view kLine = "_L";
  if (!name.starts_with(kStart)) return std::nullopt;
  const std::string_view words = name.substr(kStart.size());
  // The last one counts: files may be called like that, too.
  for (std::size_t at = words.rfind(kLine); at != std::string_view::npos && at > 0; at = words.rfind(kLine, at - 1)) {
    const std::string_view rest = words.substr(at + kLine.size());
    const auto line = leading_line(rest);
    if (!line || (line->second < rest.size() && rest[line->second] != '_')) continue;
    std::string file = file_of_name(words.substr(0, at));
    if (file.empty()) return std::nullopt;
    const std::string_view method = rest.substr(std::min(line->second + 1, rest.size()));
    return NamedLine{{std::move(file), line->first, {}, {}, std::nullopt}, without_number(method)};
  }
  return std::nullopt;
}

std::string_view file_name_of(const SourceLine& place) {
  const std::string_view file = place.file;
  const std::size_t separator = file.find_last_of("/\\");
  return separator == std::string_view::npos ? file : file.substr(separator + 1);
}

std::string to_text(const SourceLine& place) {
  return fmt::format("{}:{}", file_name_of(place), place.line);
}

Result<SourceLines> parse_source_lines(std::string_view json) {
  dom::parser parser(kLargestSourceLines + simdjson::SIMDJSON_PADDING);
  dom::element document;
  if (const auto error = parser.parse(json.data(), json.size()).get(document); error != simdjson::SUCCESS) {
    return fail(fmt::format("is not JSON: {}", simdjson::error_message(error)), {});
  }
  dom::object page;
  if (document.get(page) != simdjson::SUCCESS || text_of(page, "schema") != kLinesSchema) {
    return fail(fmt::format("its schema is not '{}'", kLinesSchema), {});
  }
  dom::object names;
  if (page.at_key("names").get(names) != simdjson::SUCCESS) return fail("'names' is missing", {});
  SourceLines lines;
  const std::string_view root = text_of(page, "root");
  for (const auto entry : names) {
    std::optional<SourceLine> place;
    if (lines.names.size() < kMostSourceLines) place = source_line_of(entry.value, root);
    if (place) {
      lines.names.insert_or_assign(std::string(entry.key), *std::move(place));
    } else {
      ++lines.unusable;
    }
  }
  return lines;
}

std::string source_lines_path(const std::string& trace) {
  return (fs::path(trace).parent_path() / kFileBesideTrace).string();
}

SourceLines source_lines_beside(const std::string& trace) {
  return contents_beside(trace, source_lines_path(trace), kLargestSourceLines, parse_source_lines);
}

}  // namespace doctor
