#include "diagnose/judged_pipelines.h"

namespace doctor {

std::vector<PipelineView> pipelines_of(const Measurements& measurements, const Judgement& judgement) {
  std::vector<PipelineView> views;
  for (const PipelineJudgement& judged : judgement.pipelines) {
    const HostMeasurement& host = measurements.hosts[judged.host];
    views.push_back({host, host.pipelines[judged.pipeline], judged});
  }
  return views;
}

bool names_culprit(const PipelineJudgement& judgement) {
  if (judgement.culprit == kNoIterator || judgement.level == InputLevel::unknown) return false;
  if (judgement.phase == Phase::background) return false;
  return judgement.phase == Phase::warmup || judgement.level != InputLevel::not_bound;
}

Loss total_loss(const Measurements& measurements) {
  Loss total;
  for (const HostMeasurement& host : measurements.hosts) total.add(host.loss);
  return total;
}

std::uint64_t event_count(const Measurements& measurements) {
  std::uint64_t events = 0;
  for (const HostMeasurement& host : measurements.hosts) events += host.event_count;
  return events;
}

std::optional<double> input_share_of(const PipelineView& view) {
  if (view.judgement.level == InputLevel::unknown) return std::nullopt;
  return view.judgement.lost_share.value_or(view.judgement.input_share);
}

}  // namespace doctor
