#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace doctor {

// What all JSON pages share. Keys keep the order in which they are written.

using OrderedJson = nlohmann::ordered_json;

/// The text of a page. ASCII only and without invalid UTF-8, so it is safe on a terminal too. Never throws.
std::string to_text(const OrderedJson& page);

/// The value on one line, without a line feed.
std::string to_line(const OrderedJson& json);

/// `tool` of every page.
OrderedJson tool_json();

/// What every machine-readable document says as `sandbox`: "full" where all of the sandbox was in force when the traces
/// were read, "partial" where a part of it was, "none" else, and where no trace is read. It is of the process, as the
/// version is of the program.
std::string_view sandbox_word();

/// `word` is one of the three; it must outlive the process's documents.
void set_sandbox_word(std::string_view word);

template <typename Value>
OrderedJson or_null(const std::optional<Value>& value) {
  return value ? OrderedJson(*value) : OrderedJson(nullptr);
}

inline OrderedJson text_or_null(const std::string& text) {
  return text.empty() ? OrderedJson(nullptr) : OrderedJson(text);
}

/// Appends a JSON string with its quotes, without making a value of it: for what is written by the million. Bytes that
/// are not UTF-8 become U+FFFD; other characters than ASCII stay as they are, but for those that end a line.
void append_json_string(std::string& out, std::string_view text);

}  // namespace doctor
