// Rows of recorded traces.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "built_paths.h"
#include "diagnose/catalog.h"
#include "fleet/row_columns.h"
#include "fleet/trace_row.h"
#include "pipeline.h"
#include "temporary_directory.h"

namespace doctor::trace_row_test {

namespace fs = std::filesystem;

inline const fs::path kTraces = fs::path(source_dir()) / "testdata" / "traces";

inline Analysis analysis_of(const std::string& file) {
  return diagnose_files(std::vector{file}, {.rules = all_rules()});
}

inline TraceRow row_of_file(const std::string& file) {
  const Analysis analysis = analysis_of(file);
  return row_of({file, 7, std::string(64, 'a')}, analysis.measurements, analysis.diagnosis, analysis.unreadable);
}

inline TraceRow row_of_trace(const std::string& name) {
  return row_of_file((kTraces / name).string());
}

}  // namespace doctor::trace_row_test
