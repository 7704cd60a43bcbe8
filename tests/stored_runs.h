// Random runs, stored in a baseline and read from it.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "compare/baseline.h"
#include "compare/baseline_store.h"
#include "process/output.h"
#include "summaries.h"
#include "temporary_directory.h"

namespace doctor::baseline_test {

/// Different runs have different numbers.
inline StoredRun stored(std::uint64_t number) {
  StoredRun run;
  run.summary = SummaryBuilder("Root Prefetch Map Range").is_called("Map", number).run();
  run.id = identifier_of(run.summary);
  run.label = fmt::format("version {}", number);
  return run;
}

inline std::vector<StoredRun> stored_from(std::uint64_t first, std::uint64_t count) {
  std::vector<StoredRun> runs;
  for (std::uint64_t number = first; number < first + count; ++number) runs.push_back(stored(number));
  return runs;
}

inline std::vector<StoredRun> loaded(const std::string& path) {
  Result<std::vector<StoredRun>> runs = load_baseline(path);
  if (!runs) FAIL(to_string(runs.error()));
  return std::move(*runs);
}

inline const BaselineAccess kByName = {
    open_to_change, [](const std::string& path, std::string_view bytes) { return write_output(bytes, path); }};

inline std::size_t added(const std::string& path, const std::vector<StoredRun>& runs) {
  const Result<std::size_t> count = add_to_baseline(path, runs, kByName);
  if (!count) FAIL(to_string(count.error()));
  return *count;
}

inline std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

inline const std::vector<std::string> kNames = {"baseline.json", "baseline"};

inline KeptRuns last(std::size_t count) {
  return [count](const std::vector<StoredRun>&) { return count; };
}

}  // namespace doctor::baseline_test
