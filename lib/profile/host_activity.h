#pragma once

#include <cstdint>
#include <map>
#include <unordered_set>
#include <vector>

#include "base/time.h"
#include "profile/span_set.h"
#include "trace/event_reader.h"

namespace doctor {

/// What the threads of a host do, as far as a step's time is broken down by it. Each list is sorted, and its intervals
/// do not touch: the time in which at least one thread does it.
struct HostActivity {
  std::vector<Interval> compute;  ///< ops of the job; those of tf.data's functions and inside of GetNext are no part
  std::vector<Interval> launch;   ///< calls of the driver, which start kernels and copies on a device
  std::vector<Interval> compile;  ///< functions are traced to graphs, or compiled (XLA)
  /// Events named like a step of training or evaluation, without a number ("train_function"), and those that the
  /// profiler took for the root of a step (argument `step_name`). Sorted; they may overlap.
  /// Source: ConvertHostThreadsXLineToStepEvents() of xprof/convert/xplane_to_step_events.cc.
  std::vector<Interval> unnumbered_steps;
};

/// Gathers it from all events of the host. Keeps one small row for each op that ran on a line that has not ended, then
/// one for each run of an executor.
class HostActivityBuilder final : public EventSink {
 public:
  void take(const TraceEvent& event) override;
  void end_line(const EventLine& line) override;
  /// Lines of the next file are others, even where their indices are the same; so are ids.
  void end_file();
  HostActivity finish();

 private:
  enum class Role : std::uint8_t { op, executor, tf_data };

  struct Run {
    Interval span;
    std::uint64_t function_id = 0;  ///< of an executor: the function whose ops it runs
    Role role = Role::op;
  };

  void add_thread(std::vector<Run>& runs);

  /// What may be of the job. Which functions are tf.data's is known when all lines were seen.
  struct Candidate {
    Interval span;
    std::uint64_t function_id = 0;
  };

  HostActivity activity_;
  std::vector<Candidate> candidates_;
  SpanSet launch_;
  std::map<std::size_t, std::vector<Run>> threads_;  ///< by EventLine::index
  std::unordered_set<std::uint64_t> tf_data_functions_;
};

}  // namespace doctor
