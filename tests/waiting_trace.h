// A trace whose steps wait for a Map, as a user of the program has it.
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "built_paths.h"
#include "gzipped.h"
#include "synthetic_trace.h"

namespace doctor::cli_test {

using Json = nlohmann::json;

/// Steps of 10 ms, of which `wait_us` are spent in a Map.
inline SyntheticTrace steps_with_waits(double wait_us, int step_count = 12) {
  SyntheticTrace trace;
  for (int step = 0; step < step_count; ++step) {
    const double start = 10'000.0 * step;
    trace.add("main", "IteratorGetNextOp::DoCompute", start, wait_us);
    trace.iterator("main", "Iterator::Root", 1, 0, start + 1, wait_us - 2);
    trace.iterator("main", "Iterator::Root::Map", 2, 1, start + 2, wait_us - 4);
  }
  return trace;
}

inline std::string trace_with_waits(double wait_us) {
  return steps_with_waits(wait_us).to_chrome_json();
}

inline std::string slow_trace() {
  return trace_with_waits(9'000);
}

inline std::string trace_without_tf_data() {
  SyntheticTrace trace;
  for (int step = 0; step < 20; ++step) {
    trace.add("main", "MatMul:MatMul", 1000 * step + 10, 100);
    trace.add("main", "Add:AddV2", 1000 * step + 200, 100);
  }
  return trace.to_chrome_json();
}

/// One line, by the program, that holds `part`.
inline bool is_error_line(const std::string& errors, std::string_view part) {
  return errors.starts_with("tfdata-doctor: ") && errors.find(part) != std::string::npos &&
         std::count(errors.begin(), errors.end(), '\n') == 1;
}

/// A file of testdata/.
inline std::string testdata(const std::string& path) {
  return source_dir() + "/testdata/" + path;
}

}  // namespace doctor::cli_test
