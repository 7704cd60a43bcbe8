#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace doctor {

constexpr bool is_json_space(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/// The text between the quotes of a JSON string with its escapes undone. Without a backslash that is `raw` itself, else
/// it is written to `scratch`. Unknown escapes are kept as they stand; lone surrogates become U+FFFD.
std::string_view unescape_json(std::string_view raw, std::string& scratch);

/// Where a JSON value ends, found by brackets, strings and escapes alone.
struct JsonExtent {
  enum class Status { complete, incomplete, malformed };
  Status status = Status::incomplete;
  std::size_t size = 0;  ///< of the value if complete; else how many bytes were looked at
};

/// Measures the value that `text` begins with, whatever its depth. Checks no more of the grammar than what keeps one
/// missing quote or bracket from swallowing the rest of a document: strings, objects and arrays stand where they may
/// stand, brackets match, and outside of strings there are only commas, colons, numbers and words.
JsonExtent measure_json_value(std::string_view text);

/// The end of the last event in `text` that is followed by another: one past the `}` of the last `}`, `,`, `{` with
/// nothing but whitespace in between. A guess (such bytes may also stand inside an event); 0 if there is none.
std::size_t last_event_boundary(std::string_view text);

/// The `{` of the first `}` or `]`, `,`, `{` as above; npos if there is none.
std::size_t first_event_boundary(std::string_view text);

/// One member of a flat JSON object. A string's value comes without its quotes, escapes not undone.
struct JsonMember {
  std::string_view key;
  std::string_view value;
  bool is_string = false;
};

/// Walks over the members of an object from its text, `{…}`; nested values come as text. Stops at the first fault.
class JsonMembers {
 public:
  explicit JsonMembers(std::string_view object);
  bool next(JsonMember& member);

 private:
  std::string_view rest_;
};

}  // namespace doctor
