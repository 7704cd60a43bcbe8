#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "event_fuzzing.h"
#include "io/byte_source.h"
#include "read_one_format.h"
#include "trace/chrome/json_events.h"
#include "trace/format.h"

namespace {

/// Events, and those that were dropped.
std::pair<std::size_t, std::uint64_t> count_events(std::string_view bytes, unsigned threads) {
  const auto source = doctor::memory_source(bytes, "fuzz");
  doctor::JsonReadOptions options;
  options.work.window_size = 32;
  options.largest_event = 4096;
  options.work.threads = threads;
  doctor::JsonEventReader reader(*source, options);
  std::size_t count = 0;
  while (const doctor::JsonEventBatch* batch = reader.next()) count += batch->events.size();
  return {count, reader.document().malformed_events};
}

}  // namespace

// Any bytes, read in windows and in smaller ones, by one thread and by two; and its events, converted.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  doctor::sniff_chrome_json(bytes);
  const auto source = doctor::memory_source(bytes, "fuzz");
  const auto trace = doctor::read_one_format(doctor::read_chrome_json, *source, {.window_size = 512});
  static_cast<void>(trace);
  doctor::fuzz_events(doctor::read_chrome_json, bytes);
  // Threads cost more than the events: for an input in eight.
  if (size % 8 == 0 && count_events(bytes, 1) != count_events(bytes, 2)) __builtin_trap();
  return 0;
}
