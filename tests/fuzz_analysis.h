#pragma once

#include <string>
#include <vector>

#include "diagnose/catalog.h"
#include "fuzzing.h"
#include "pipeline.h"

namespace doctor {

/// All rules, over small windows: an execution is to cost what its input costs, and more of it lies at the edge of one.
inline DiagnosisSetup fuzz_setup(const TraceNeeds& needed = {}) {
  static const std::vector<Rule> rules = [] {
    std::vector<Rule> all;
    for (const CatalogEntry& entry : rule_catalog()) all.push_back(entry.rule);
    return all;
  }();
  DiagnosisSetup setup;
  setup.rules = rules;
  setup.needs = needed;
  setup.work.window_size = 512;
  return setup;
}

/// The trace with what a page needs beyond a diagnosis.
inline Analysis fuzz_analysis(const std::string& file, const TraceNeeds& needed = {}) {
  Analysis analysis = diagnose_files(std::vector<std::string>{file}, fuzz_setup(needed));
  for (const HostMeasurement& host : analysis.measurements.hosts) expect(host.unattributed == 0, "time was lost");
  for (const Error& error : analysis.unreadable) expect(!error.what.empty(), "an error without words");
  return analysis;
}

}  // namespace doctor
