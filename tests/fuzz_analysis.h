#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "diagnose/catalog.h"
#include "fuzzing.h"
#include "html_documents.h"
#include "measure/measure.h"
#include "pipeline.h"

namespace doctor {

/// All rules, and all that any page may ask for beyond a diagnosis.
inline DiagnosisSetup fuzz_setup() {
  static const std::vector<Rule> rules = [] {
    std::vector<Rule> all;
    for (const CatalogEntry& entry : rule_catalog()) all.push_back(entry.rule);
    return all;
  }();
  DiagnosisSetup setup;
  setup.rules = rules;
  setup.needed = html_page_needs();
  setup.needed.measure.calls = CallDetailRequest();
  setup.needed.measure.call_times = true;
  return setup;
}

inline Analysis fuzz_analysis(const std::vector<std::string>& files) {
  const Analysis analysis = diagnose_files(files, fuzz_setup());
  for (const HostMeasurement& host : analysis.measurements.hosts) expect(host.unattributed == 0, "time was lost");
  for (const Error& error : analysis.unreadable) expect(!error.what.empty(), "an error without words");
  return analysis;
}

}  // namespace doctor
