#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/result.h"
#include "io/bounded_file.h"

namespace doctor {

/// What the small file at `path`, beside a trace, says, as `parse` reads it; as if made anew where there is no such
/// file or the trace is standard input. Never fails: `fault` of the contents says what is wrong with more than
/// `most_bytes`, or with what cannot be read or parsed, and `path` of the contents is that of the file.
template <typename Contents>
Contents contents_beside(const std::string& trace, std::string path, std::size_t most_bytes,
                         Result<Contents> (*parse)(std::string_view)) {
  Contents contents;
  if (trace == "-") return contents;
  std::error_code error;
  // Only a regular file: a pipe would wait for ever.
  if (!std::filesystem::is_regular_file(path, error) || error) return contents;
  Result<Contents> read = read_bounded_file(path, most_bytes).and_then(parse);
  if (read) {
    contents = *std::move(read);
  } else {
    contents.fault = read.error().what;
  }
  contents.path = std::move(path);
  return contents;
}

}  // namespace doctor
