#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "compare/baseline.h"
#include "compare/comparison.h"
#include "compare/comparison_thresholds.h"

// Any bytes: what is read is written and read again, and can be compared.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  doctor::sniff_baseline_json(bytes);
  const auto runs = doctor::parse_baseline_json(bytes, "fuzz");
  if (!runs) {
    if (runs.error().where != "fuzz" || runs.error().what.empty()) __builtin_trap();
    return 0;
  }
  const auto again = doctor::parse_baseline_json(doctor::to_baseline_json(*runs), "fuzz");
  if (!again || again->size() != runs->size()) __builtin_trap();
  std::vector<doctor::RunSummary> summaries;
  for (const doctor::StoredRun& run : *runs) summaries.push_back(run.summary);
  const doctor::ThresholdValues thresholds(doctor::comparison_thresholds(), {});
  doctor::compare(summaries, summaries, {}, thresholds);
  return 0;
}
