#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace doctor {

constexpr bool is_json_space(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/// The text between the quotes of a JSON string with its escapes undone. Without a backslash it is `raw` itself, else
/// it is written to `scratch`. Unknown escapes are kept as they are; lone surrogates become U+FFFD.
std::string_view unescape_json(std::string_view raw, std::string& scratch);

/// The extent of a JSON value, found by brackets, strings and escapes alone.
struct JsonExtent {
  enum class Status { complete, incomplete, malformed };
  Status status = Status::incomplete;
  std::size_t size = 0;  ///< the size of the value if it is complete; else the number of bytes examined
};

/// Measures the value that `text` begins with, whatever its depth. It checks only enough grammar to keep one missing
/// quote or bracket from swallowing the rest of a document: strings, objects and arrays stand where they may, brackets
/// match, and outside of strings there are only commas, colons, numbers and words.
JsonExtent measure_json_value(std::string_view text);

/// The probable end of the last event in `text` that is followed by another: one past the `}` of the last `}`, `,`, `{`
/// with only whitespace in between. It is a guess, because such bytes may also stand inside an event. 0 if there is
/// none.
std::size_t last_event_boundary(std::string_view text);

/// The probable start of a second event: the `{` of the first `}` or `]`, `,`, `{` as above; npos if there is none.
std::size_t first_event_boundary(std::string_view text);

/// One member of a flat JSON object. A string's value comes without its quotes, with its escapes.
struct JsonMember {
  std::string_view key;
  std::string_view value;
  bool is_string = false;
};

/// Walks over the members of an object from its text, `{…}`. Nested values come as text. Stops at the first fault.
class JsonMembers {
 public:
  explicit JsonMembers(std::string_view object);
  bool next(JsonMember& member);

 private:
  std::string_view rest_;
};

}  // namespace doctor
