#pragma once

#include <simdjson.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>

#include "command_line/output_targets.h"
#include "html_elements.h"
#include "text/json_page.h"

/// What the fuzz targets share: bytes as choices, inputs as files, and what must hold of every output.
namespace doctor {

/// Stops the target, with the reason in its last line.
inline void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "fuzzing: %s\n", what);
  __builtin_trap();
}

/// The input as a row of choices. After its end every choice is the first one, so that short inputs are simple ones.
class FuzzBytes {
 public:
  explicit FuzzBytes(std::string_view bytes) : bytes_(bytes) {}
  FuzzBytes(const std::uint8_t* data, std::size_t size) : FuzzBytes({reinterpret_cast<const char*>(data), size}) {}

  bool is_at_end() const { return bytes_.empty(); }

  unsigned byte() {
    if (bytes_.empty()) return 0;
    const auto first = static_cast<unsigned char>(bytes_.front());
    bytes_.remove_prefix(1);
    return first;
  }
  unsigned below(std::size_t limit) { return byte() % static_cast<unsigned>(limit); }
  bool flip() { return (byte() & 1U) != 0; }

  /// One of a table of at most 256.
  template <typename Table>
  const auto& pick(const Table& table) {
    return table[below(std::size(table))];
  }

  std::string_view text(std::size_t length) {
    const std::string_view taken = bytes_.substr(0, length);
    bytes_.remove_prefix(taken.size());
    return taken;
  }
  std::string_view rest() { return text(bytes_.size()); }

 private:
  std::string_view bytes_;
};

/// Bytes as a file that has a path, but lies on no disk.
class FuzzFile {
 public:
  explicit FuzzFile(std::string_view bytes) : file_(::memfd_create("fuzz", MFD_CLOEXEC)) {
    expect(file_ >= 0, "no file in memory can be made");
    while (!bytes.empty()) {
      const ssize_t count = ::write(file_, bytes.data(), bytes.size());
      expect(count > 0, "a file in memory cannot be written");
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
  }
  FuzzFile(const FuzzFile&) = delete;
  FuzzFile& operator=(const FuzzFile&) = delete;
  ~FuzzFile() { ::close(file_); }

  std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
};

/// Text for a person: lines without control characters, also those of two bytes (U+0080 to U+009F).
inline void expect_clean_text(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const bool is_line_end = byte == '\n' || (byte == '\r' && text.substr(at + 1).starts_with('\n'));  // of CSV
    expect(byte >= 0x20 || is_line_end, "a control character in the output");
    expect(byte != 0x7f, "a control character in the output");
    const bool is_c1 = byte == 0xc2 && at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) < 0xa0;
    expect(!is_c1, "a control character of two bytes in the output");
  }
}

inline void expect_json(std::string_view text) {
  static simdjson::dom::parser parser;
  simdjson::dom::element document;
  expect(parser.parse(text.data(), text.size()).get(document) == simdjson::SUCCESS, "output that is not JSON");
  const bool is_clean = std::all_of(text.begin(), text.end(), [](char byte) { return byte == '\n' || byte >= ' '; });
  expect(is_clean, "JSON that is not ASCII, or has control characters");
}

/// Tags of a document, each closed by one of the same name; all that stands between '<' and '>' is a tag.
inline void expect_tags(std::string_view text, std::span<const std::string_view> elements) {
  for (std::size_t at = text.find('<'); at != std::string_view::npos; at = text.find('<', at)) {
    const std::string_view tag = text.substr(at + 1);
    const std::size_t length = tag.find_first_of(" />\n", tag.starts_with('/') ? 1 : 0);
    expect(length != std::string_view::npos, "a tag without an end");
    const std::string_view name = tag.substr(tag.starts_with('/') ? 1 : 0, length - (tag.starts_with('/') ? 1 : 0));
    const bool is_known = std::find(elements.begin(), elements.end(), name) != elements.end();
    expect(is_known || name == "!doctype" || name == "?xml", "an element that no page has");
    at += 1 + length;
    if (name != "script" && name != "style") continue;
    const std::size_t end = text.find(name == "script" ? "</script>" : "</style>", at);
    at = end == std::string_view::npos ? at : end + name.size() + 3;
  }
}

inline void expect_html(std::string_view page) {
  expect(page.starts_with("<!doctype html>"), "a page that is not HTML");
  expect_tags(page, kHtmlElements);
}

inline void expect_xml(std::string_view document) {
  static constexpr std::array<std::string_view, 10> kElements = {"testsuites", "testsuite", "testcase",   "failure",
                                                                 "error",      "skipped",   "properties", "property",
                                                                 "system-out", "system-err"};
  expect_clean_text(document);
  expect_tags(document, kElements);
}

/// A document of a command, in the format that was asked for.
inline void expect_in_format(const std::string& page, OutputFormat format) {
  const bool is_json = format == OutputFormat::json || format == OutputFormat::sarif || format == OutputFormat::gitlab;
  if (is_json) {
    expect_json(page);
  } else if (format == OutputFormat::junit) {
    expect_xml(page);
  } else if (format == OutputFormat::html) {
    expect_html(page);
  } else {
    expect_clean_text(page);
  }
}

}  // namespace doctor
