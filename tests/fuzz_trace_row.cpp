#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "fleet/trace_row.h"

// Any line: what is read is written as one line, and read again it is written the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto row = doctor::parse_row(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!row) {
    if (row.error().what.empty()) __builtin_trap();
    return 0;
  }
  const std::string line = doctor::render_row(*row);
  if (line.find('\n') != line.size() - 1) __builtin_trap();
  const auto again = doctor::parse_row(line);
  if (!again || doctor::render_row(*again) != line) __builtin_trap();
  return 0;
}
