#pragma once

#include "base/time.h"
#include "diagnose/finding.h"
#include "diagnose/rule.h"
#include "measure/measurements.h"

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
std::optional<RecurringWork> ask_for_recurring_work(const HostMeasurement& host, const std::vector<Interval>& work,
                                                    const std::string& question, Examiner& examiner);

}  // namespace doctor
