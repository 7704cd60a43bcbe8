#pragma once

#include <filesystem>
#include <system_error>

#include "base/result.h"
#include "io/byte_source.h"

namespace doctor {

/// The content of the small file at `path`, beside a trace, as `parse` reads it. nullopt if there is no such file or
/// the trace is standard input. Errors: it has more than `most_bytes`, or cannot be read or parsed.
template <typename Contents>
std::optional<Result<Contents>> file_beside(const std::string& trace, const std::string& path, std::size_t most_bytes,
                                            Result<Contents> (*parse)(std::string_view)) {
  std::error_code error;
  // Only a regular file is opened: a pipe would wait for ever.
  if (trace == "-" || !std::filesystem::is_regular_file(path, error) || error) return std::nullopt;
  return read_bounded_file(path, most_bytes).and_then(parse);
}

/// The same, with default content if there is no file. Never fails: `fault` of the content says what is wrong with the
/// file, and `path` is its path.
template <typename Contents>
Contents contents_beside(const std::string& trace, std::string path, std::size_t most_bytes,
                         Result<Contents> (*parse)(std::string_view)) {
  Contents contents;
  std::optional<Result<Contents>> read = file_beside(trace, path, most_bytes, parse);
  if (!read) return contents;
  if (*read) {
    contents = **std::move(read);
  } else {
    contents.fault = read->error().what;
  }
  contents.path = std::move(path);
  return contents;
}

}  // namespace doctor
