#include <cstddef>
#include <cstdint>

#include "io/byte_source.h"
#include "measure/measurements.h"
#include "trace/format.h"
#include "tree/iterator_forest.h"

/// Any bytes as an XSpace, through all stages up to the measurements: none may crash or lose time.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto source = doctor::memory_source(bytes, "fuzz");
  const doctor::Result<doctor::Trace> trace = doctor::read_xspace(*source);
  if (!trace) return 0;
  const doctor::HostMeasurement measured = doctor::measure(*trace, doctor::build_tree(*trace));
  if (measured.unattributed != 0) __builtin_trap();
  return 0;
}
