// Analyses of what AUTOTUNE chose.
#pragma once

#include <filesystem>

#include "diagnose/tuning.h"
#include "measured_pipeline.h"
#include "pipeline.h"
#include "report/page.h"
#include "synthetic_trace.h"
#include "temporary_directory.h"

namespace doctor::autotune_test {

namespace fs = std::filesystem;

inline const std::string kPrefetch = "Iterator::Root::Prefetch";

inline const std::string kMap = "Iterator::Root::Prefetch::ParallelMapV2";

inline Analysis analyze_bytes(const std::string& bytes, bool with_history = true, const WorkOptions& work = {}) {
  const TemporaryDirectory folder;
  const std::vector<std::string> files = {folder.write("host", bytes)};
  TraceNeeds options;
  options.attribute_history = with_history;
  return diagnose_files(files, {.work = work, .needs = options});
}

/// The parallel map is called on two threads by turns and AUTOTUNE raises its parallelism: 1, 1, 2, 2, 4, 4 … The
/// lines of the threads stand one behind the other in the file.
inline SyntheticTrace two_threads() {
  SyntheticTrace trace;
  for (int call = 0; call < 6; ++call) {
    trace.iterator("main", "Iterator::Root", 1, 0, 100.0 * call, 90);
    auto& prefetch = trace.iterator("main", kPrefetch, 2, 1, 100.0 * call, 80);
    prefetch.numbers = {{"buffer_limit", 2}, {"interleave_depth", 0}};
    if (call > 3) prefetch.numbers["buffered_elements"] = 2;
    auto& map = trace.iterator(call % 2 == 0 ? "a" : "b", kMap, 3, 2, 100.0 * call + 10, 20);
    map.numbers["parallelism"] = call < 2 ? 1 : call < 4 ? 2 : 4;
    map.texts["deterministic"] = call == 3 ? "false" : "true";
  }
  return trace;
}

}  // namespace doctor::autotune_test
