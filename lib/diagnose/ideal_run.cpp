#include "diagnose/ideal_run.h"

#include "base/ranks.h"

namespace doctor {

std::optional<IdealRate> ideal_rate(const Measurements& measurements) {
  std::optional<IdealRate> slowest;
  for (const HostMeasurement& host : measurements.hosts) {
    if (host.cycles.consumers.empty() || host.cycles.consumers.front().rate <= 0) continue;
    IdealRate rate{host.cycles.consumers.front().rate, {}};
    if (slowest && slowest->traced <= rate.traced) continue;
    // Where elements cost next to nothing, a replay may have nothing to go by.
    if (const PipelineModel model = model_of(host, kQuickReplay); model.is_reliable())
      rate.untraced = model.now.steps_per_s;
    slowest = rate;
  }
  return slowest;
}

Error no_ideal_steps(std::string where) {
  return {"the ideal run shows no steps of a consumer, so it measures no ceiling",
          std::move(where),
          {},
          "record it with 'scripts/record --ideal', or profile your loop on dataset.take(1).cache().repeat()"};
}

IdealRun ideal_run(std::string source, std::span<const IdealRate> rates) {
  IdealRun ideal{std::move(source), rates.size(), {}};
  std::vector<double> traced;
  std::vector<double> untraced;
  for (const IdealRate& rate : rates) {
    traced.push_back(rate.traced);
    if (rate.untraced) untraced.push_back(*rate.untraced);
  }
  ideal.rate.traced = median(traced);
  if (!untraced.empty() && untraced.size() == traced.size()) ideal.rate.untraced = median(untraced);
  return ideal;
}

double IdealGap::closed_by(double rate) const {
  return is_open() ? std::clamp((rate - from) / size(), 0.0, 1.0) : 0;
}

IdealGap gap_to(const IdealRun& ideal, const HostPredictions& host) {
  if (ideal.rate.untraced && host.is_reliable) return {host.now, *ideal.rate.untraced, false};
  return {host.measured, ideal.rate.traced, true};
}

}  // namespace doctor
