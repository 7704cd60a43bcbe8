#include "query/query_inputs.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "fleet/trace_row.h"
#include "io/byte_source.h"
#include "io/file_io.h"

namespace doctor {
namespace {

/// Whether the first line is a row of `batch`.
bool holds_rows(ByteSource& source) {
  constexpr std::size_t kLongestLine = std::size_t{4} << 20;
  std::string head;
  std::string block(std::size_t{64} << 10, '\0');
  while (head.size() < kLongestLine && head.find('\n') == std::string::npos) {
    const Result<std::size_t> count = source.read(block.data(), block.size());
    if (!count || *count == 0) break;
    head.append(block, 0, *count);
    if (head.front() != '{') break;
  }
  static_cast<void>(source.rewind());
  const std::size_t end = head.find('\n');
  return end != std::string::npos && parse_row(std::string_view(head).substr(0, end)).has_value();
}

Result<QueryInput> examine(std::string path, std::string name) {
  const Result<std::unique_ptr<ByteSource>> source = open_source(path);
  if (!source) return Unexpected(source.error());
  QueryInput input{std::move(path), std::move(name), {}, nullptr};
  if (!holds_rows(**source)) {
    const Result<const Format*> format = format_of(**source);
    if (!format) return Unexpected(format.error());
    input.format = *format;
  }
  Result<std::string> digest = sha256_of_file(input.path);
  if (!digest) return Unexpected(std::move(digest.error()));
  input.sha256 = std::move(*digest);
  return input;
}

}  // namespace

QueryInputs examine_inputs(const std::vector<std::string>& paths) {
  QueryInputs inputs;
  std::vector<QueryInput> found;
  for (const std::string& path : std::set<std::string>(paths.begin(), paths.end())) {
    std::string stored = path;
    if (path == "-") {
      Result<FileDescriptor> file = store_standard_input();
      if (!file) {
        inputs.unreadable.push_back(std::move(file.error()));
        continue;
      }
      inputs.standard_input = std::move(*file);
      stored = path_of(inputs.standard_input);
    }
    Result<QueryInput> input = examine(stored, path == "-" ? "standard input" : path);
    if (input) {
      found.push_back(std::move(*input));
    } else {
      if (path == "-") input.error().where = "standard input";
      inputs.unreadable.push_back(std::move(input.error()));
    }
  }
  std::set<std::string> contents;
  for (QueryInput& input : found) {
    if (!contents.insert(input.sha256).second) {
      inputs.repeated.push_back(std::move(input.name));
    } else {
      (input.format != nullptr ? inputs.traces : inputs.rows).push_back(std::move(input));
    }
  }
  return inputs;
}

}  // namespace doctor
