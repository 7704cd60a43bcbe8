#pragma once

#include "base/time.h"
#include "diagnose/finding.h"
#include "diagnose/pipelines.h"
#include "diagnose/rule.h"
#include "measure/measurements.h"
#include "measure/steps/step_table.h"

namespace doctor {

/// What goes on in several steps of a host and takes a part of their time.
struct RecurringWork {
  std::size_t steps = 0;  ///< that count in averages and hold some of it
  Picoseconds time = 0;   ///< in these steps
  Evidence share;         ///< `share_of_steps`
  Severity severity = Severity::note;
};

/// Asks whether so many steps (`min_steps`) hold some of the work, whether it takes so much of their time
/// (`min_share`), and whether that makes it a warning (`min_high_share`). `work`: disjoint, sorted. `question`: what
/// the number of steps is called. Misses its evidence where the trace shows no steps.
inline std::optional<RecurringWork> ask_for_recurring_work(const HostMeasurement& host,
                                                           const std::vector<Interval>& work,
                                                           const std::string& question, Examiner& examiner) {
  if (host.steps.steps.empty()) {
    examiner.misses("the trace shows no steps");
    return std::nullopt;
  }
  RecurringWork found;
  found.steps = steps_with(work, host.steps);
  if (!examiner.at_least(number_of(question, found.steps), "min_steps")) return std::nullopt;
  found.time = time_in_steps(work, host.steps);
  found.share = share_of("share_of_steps", share_of_steps(found.time, host.steps));
  if (!examiner.at_least(found.share, "min_share")) return std::nullopt;
  found.severity = examiner.at_least(found.share, "min_high_share") ? Severity::warning : Severity::note;
  return found;
}

}  // namespace doctor
