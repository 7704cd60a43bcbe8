#include <cstddef>
#include <cstdint>

#include "event_fuzzing.h"
#include "io/byte_source.h"
#include "measure/measure.h"
#include "measure/measurements.h"
#include "read_one_format.h"
#include "trace/format.h"
#include "tree/iterator_forest.h"

namespace {

doctor::Result<doctor::Trace> read(std::string_view bytes, const doctor::WorkOptions& work,
                                   const doctor::TraceNeeds& options) {
  const auto source = doctor::memory_source(bytes, "fuzz");
  return doctor::read_one_format(doctor::read_xspace, *source, work, options.attribute_history);
}

}  // namespace

/// Any bytes as an XSpace, through all stages up to the measurements: none may crash or lose time, and small windows
/// on two threads lose the same events. The second reading takes all that pages may ask for. The events are converted,
/// too.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  doctor::fuzz_events(doctor::read_xspace, bytes);
  const doctor::Result<doctor::Trace> trace = read(bytes, {.window_size = 4096}, {});
  doctor::WorkOptions work;
  work.threads = size % 8 == 0 ? 2 : 1;  // threads cost more than most inputs
  work.window_size = 16;
  const doctor::Result<doctor::Trace> again = read(bytes, work, {.attribute_history = true});
  if (trace.has_value() != again.has_value()) __builtin_trap();
  if (!trace) return 0;
  if (trace->event_count != again->event_count || trace->loss.counts != again->loss.counts) __builtin_trap();
  const doctor::HostMeasurement measured = doctor::measure(*trace, doctor::build_tree(*trace));
  if (measured.unattributed != 0) __builtin_trap();
  const doctor::HostMeasurement detailed = doctor::measure(
      *again, doctor::build_tree(*again), {}, {.calls = doctor::CallRequest{}, .timeline = doctor::CallRequest{}});
  if (detailed.iterators.size() != measured.iterators.size()) __builtin_trap();
  return 0;
}
