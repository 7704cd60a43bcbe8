// Baseline: simdjson's On-Demand interface over the whole document in memory.

#include <simdjson.h>

#include <string>

#include "aggregate.h"
#include "program.h"

namespace {

using bench::Aggregate;
namespace ondemand = simdjson::ondemand;

/// Adds an element of `traceEvents` if it is a complete event (phase X). Faults are thrown by simdjson.
void add_event(ondemand::object event, Aggregate& aggregate) {
  bool is_complete = false;
  std::uint64_t process = 0;
  std::uint64_t thread = 0;
  double start = 0;
  double duration = 0;
  std::string_view name;
  for (auto member : event) {
    const ondemand::raw_json_string key = member.key();
    if (key == "ph") {
      is_complete = std::string_view(member.value().get_string()) == "X";
    } else if (key == "pid") {
      process = member.value().get_uint64();
    } else if (key == "tid") {
      thread = member.value().get_uint64();
    } else if (key == "ts") {
      start = member.value().get_double();
    } else if (key == "dur") {
      duration = member.value().get_double();
    } else if (key == "name") {
      name = member.value().get_string();
    }
  }
  if (!is_complete) return;
  aggregate.add(aggregate.thread(process, thread), aggregate.intern(name), bench::to_picoseconds(start),
                bench::to_picoseconds(duration));
}

void read(const std::string& path, Aggregate& aggregate) {
  const simdjson::padded_string text = simdjson::padded_string::load(path);
  ondemand::parser parser;
  ondemand::document document = parser.iterate(text);
  ondemand::array events = document["traceEvents"];
  for (ondemand::value event : events) add_event(event.get_object(), aggregate);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::aggregate_main(argc, argv, read);
}
