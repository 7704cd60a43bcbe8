#include "diagnose/recurring_work.h"

#include "diagnose/pipelines.h"
#include "measure/steps/step_table.h"

namespace doctor {

std::optional<RecurringWork> ask_for_recurring_work(const HostMeasurement& host, const std::vector<Interval>& work,
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
