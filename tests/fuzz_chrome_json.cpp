#include <cstddef>
#include <cstdint>
#include <string_view>

#include "io/byte_source.h"
#include "trace/format.h"
#include "trace/json_events.h"

// Any bytes, read in one large window and in many small ones.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  doctor::sniff_chrome_json(bytes);
  const auto source = doctor::memory_source(bytes, "fuzz");
  const auto trace = doctor::read_chrome_json(*source);
  static_cast<void>(trace);

  const auto again = doctor::memory_source(bytes, "fuzz");
  doctor::JsonEventReader reader(*again, {32, 4096});
  while (reader.next() != nullptr) {
  }
  return 0;
}
