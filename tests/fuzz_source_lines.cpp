// Any bytes as the file beside a trace that says lines of the program, and any name as one that says its line.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzzing.h"
#include "trace/source_lines.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace doctor;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto named = line_of_name(bytes)) {
    expect(named->place.line > 0 && !named->place.file.empty(), "a line without a file");
    expect(to_text(named->place).find(':') != std::string::npos, "a line without words");
  }
  const Result<SourceLines> lines = parse_source_lines(bytes);
  if (!lines) {
    expect(!lines.error().what.empty(), "an error without words");
    return 0;
  }
  expect(lines->names.size() <= kMostSourceLines, "more lines than are kept");
  for (const auto& [name, place] : lines->names) {
    expect(place.line > 0 && !place.file.empty(), "a line without a file");
    expect(!file_name_of(place).starts_with('/'), "a name that is a path");
  }
  return 0;
}
