#include <cstddef>
#include <cstdint>
#include <string_view>

#include "event_fuzzing.h"
#include "io/byte_source.h"
#include "trace/format.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  doctor::sniff_tf1_timeline(bytes);
  const auto source = doctor::memory_source(bytes, "fuzz");
  const auto trace = doctor::read_trace(*source, doctor::formats()[0], {.window_size = 512});
  static_cast<void>(trace);
  doctor::fuzz_events(doctor::read_tf1_timeline, bytes);
  return 0;
}
