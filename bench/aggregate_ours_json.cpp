// Ours: JsonEventReader, which also reads gzip.

#include <stdexcept>
#include <string>

#include "aggregate.h"
#include "io/byte_source.h"
#include "program.h"
#include "trace/chrome/json_events.h"

namespace {

using bench::Aggregate;

void add_event(const doctor::JsonEvent& event, Aggregate& aggregate) {
  if (event.phase != 'X') return;
  const auto start = doctor::to_picoseconds(event.start, 0);
  const auto duration = doctor::to_picoseconds(event.duration, 0);
  if (!start || !duration) throw std::runtime_error("a time outside the range of 64-bit picoseconds");
  aggregate.add(aggregate.thread(event.process, event.thread), aggregate.intern(event.name), *start, *duration);
}

void read(const std::string& path, Aggregate& aggregate) {
  const auto source = doctor::open_source(path);
  if (!source) throw std::runtime_error(to_string(source.error()));
  doctor::JsonReadOptions options;
  options.splits_arguments = false;
  doctor::JsonEventReader reader(**source, options);
  while (const doctor::JsonEventBatch* batch = reader.next()) {
    for (const doctor::JsonEvent& event : batch->events) add_event(event, aggregate);
  }
  const doctor::JsonDocument& document = reader.document();
  if (document.read_error) throw std::runtime_error(to_string(*document.read_error));
  if (document.is_cut_off || document.malformed_events > 0) throw std::runtime_error("a damaged document");
}

}  // namespace

int main(int argc, char** argv) {
  return bench::aggregate_main(argc, argv, read);
}
