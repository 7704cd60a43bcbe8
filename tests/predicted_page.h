// What a page of `whatif` holds.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "measured_pipeline.h"
#include "report/whatif_page.h"
#include "run_tool.h"

namespace doctor::whatif_page_test {

using Json = nlohmann::json;

/// A host with a model that makes 10 steps a second, and what is predicted of it.
struct Predicted {
  Measurements measurements;
  Diagnosis diagnosis;
  std::vector<HostPredictions> hosts;
  WhatIfRequest request;

  explicit Predicted(const std::vector<std::string>& chain = {"Root", "BatchV2", "Map", "TFRecord"}) {
    MeasuredPipeline pipeline(chain);
    pipeline.host().hosts = {"host-1"};
    pipeline.host().cycles.cores = pipeline.host().cycles.pool_threads = 2;
    measurements = pipeline.measurements();
    diagnosis.judgement.pipelines.emplace_back();
    HostPredictions& host = hosts.emplace_back();
    host.pipeline = 0;
    host.measured = 9;
    host.now = 10;
    host.fit = 1;
    host.is_reliable = true;
    host.limited_by = {Resource::thread, 2};
    host.without_input = {40, 36, 44, Condition::none, {}, {}, 0};
  }

  HostPredictions& host() { return hosts.front(); }
  HostMeasurement& measured() { return measurements.hosts.front(); }
  WhatIfView view() const { return {measurements, diagnosis, hosts, request}; }
  std::string text(const TextStyle& style = {}) const { return render_whatif_text(view(), style); }
};

inline Fix fix_of(FixKind kind, std::uint32_t iterator) {
  return {kind, static_cast<IteratorId>(iterator), {}, {}};
}

inline const Fix kParallelMap = fix_of(FixKind::parallel_map, 2);

inline const Fix kCache = fix_of(FixKind::cache, 2);

inline const Fix kPrefetch = {FixKind::prefetch, kNoIterator, {}, {}};

inline PredictedFixes brings(std::vector<Fix> fixes, double rate, Bottleneck limit = {},
                             Condition condition = Condition::none) {
  return {std::move(fixes), {}, {rate, rate * 0.9, rate * 1.1, condition, {}, limit, 0}};
}

/// Whether the page has the text on one line.
inline bool has(const std::string& page, const std::string& part) {
  return page.find(part) != std::string::npos;
}

}  // namespace doctor::whatif_page_test
