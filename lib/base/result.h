#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace doctor {

/// The reason why something could not be read or written: one line for a person.
struct Error {
  std::string what;                     ///< the fault, e.g. "the gzip stream ends early"
  std::string where;                    ///< file name or label of the input; may be empty
  std::optional<std::uint64_t> offset;  ///< byte offset in `where`, in the uncompressed bytes
  std::string next;                     ///< the remedy, for the person who reads it; may be empty
};

/// A value or the reason why there is none. Only io and the readers can fail; later stages are total.
/// Named so that std::expected can replace tl::expected once the oldest supported compiler has it.
template <typename T>
using Result = tl::expected<T, Error>;

using Unexpected = tl::unexpected<Error>;

inline Unexpected fail(std::string what, std::string where, std::string next = {},
                       std::optional<std::uint64_t> offset = std::nullopt) {
  return Unexpected(Error{std::move(what), std::move(where), offset, std::move(next)});
}

/// "where: what at byte N; next", with the empty parts left out. Contains foreign text: escape it for the sink.
inline std::string to_string(const Error& error) {
  std::string line = error.where.empty() ? error.what : error.where + ": " + error.what;
  if (error.offset) line += " at byte " + std::to_string(*error.offset);
  if (!error.next.empty()) line += "; " + error.next;
  return line;
}

}  // namespace doctor
