#include "report/whatif_view.h"

#include <algorithm>

#include "report/selection.h"

namespace doctor {

std::vector<WhatIfHost> worst_hosts_first(const WhatIfView& view) {
  std::vector<const HostPredictions*> order;
  order.reserve(view.hosts.size());
  for (const HostPredictions& host : view.hosts) order.push_back(&host);
  std::stable_sort(order.begin(), order.end(), [](const HostPredictions* a, const HostPredictions* b) {
    if (a->why_none.has_value() != b->why_none.has_value()) return !a->why_none;
    return a->pipeline.value_or(SIZE_MAX) < b->pipeline.value_or(SIZE_MAX);
  });
  std::vector<WhatIfHost> hosts;
  hosts.reserve(order.size());
  for (const HostPredictions* host : order) hosts.push_back({view, *host});
  return hosts;
}

std::string id_of(const WhatIfHost& host) {
  if (!host.predicted.pipeline) return {};
  const PipelineJudgement& judged = host.view.diagnosis.judgement.pipelines[*host.predicted.pipeline];
  return pipeline_id(judged, host.measured().pipelines[judged.pipeline]);
}

IteratorId iterator_at(const WhatIfHost& host, const Bottleneck& bottleneck) {
  return bottleneck.stage < host.measured().iterators.size() ? static_cast<IteratorId>(bottleneck.stage) : kNoIterator;
}

std::string spec_of(const WhatIfHost& host, const PredictedFixes& fixes, std::string_view between) {
  std::string text;
  for (const Fix& fix : fixes.fixes) {
    if (!text.empty()) text += between;
    text += to_string(fix, host.measured());
  }
  return text;
}

std::vector<const PredictedFixes*> tabled_fixes(const HostPredictions& predicted) {
  if (predicted.asked) return {&*predicted.asked};
  std::vector<const PredictedFixes*> list;
  for (const PredictedFixes& fixes : predicted.fixes) list.push_back(&fixes);
  for (const PredictedFixes& fixes : predicted.together) list.push_back(&fixes);
  return list;
}

bool is_tabled(const WhatIfHost& host) {
  return host.has_model() && (host.view.request.fixes.empty() || host.predicted.asked);
}

}  // namespace doctor
