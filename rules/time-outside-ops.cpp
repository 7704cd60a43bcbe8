#include <fmt/format.h>

#include <cmath>

#include "diagnose/devices.h"
#include "measure/steps/step_table.h"
#include "text/numbers.h"

namespace doctor::rules::time_outside_ops {
namespace {

std::vector<Advice> advice() {
  return {{"Record Python's functions too, to see which one it is",
           "options = tf.profiler.experimental.ProfilerOptions(host_tracer_level=2, python_tracer_level=1)\n"
           "tf.profiler.experimental.start(logdir, options)"},
          {{"Return to Python less often", "Several steps for each call, metrics and callbacks every hundred steps."},
           "model.compile(..., steps_per_execution=10)"},
          {{"Keep the loop free of what waits for the device",
            ".numpy(), print() and float() of a tensor, logging in each step."},
           std::nullopt}};
}

std::optional<Finding> check_device(const HostMeasurement& host, const DeviceActivity& device, Examiner& examiner) {
  if (!host.device_profile.is_aligned) {
    examiner.misses("a TF1 timeline does not show what happens between the ops");
    return std::nullopt;
  }
  const StepSummary steps = summarize_steps({&host.steps, 1});
  if (steps.count == 0) {
    examiner.misses("the trace shows no steps");
    return std::nullopt;
  }
  const double outside = steps.parts[static_cast<std::size_t>(StepPart::other)];
  const Evidence share = share_of("share_of_step", outside / steps.average);
  if (!examiner.at_least(share, "min_share")) return std::nullopt;
  if (!examiner.at_least(time_of("time_in_a_step", std::llround(outside)), "min_time")) return std::nullopt;
  Finding finding = device_finding(
      device, Severity::note,
      fmt::format("during {} of a step ({} of {}) no device works and the host runs no op: Python, callbacks or files",
                  format_share(outside / steps.average), format_time(std::llround(outside)),
                  format_time(std::llround(steps.average))));
  finding.evidence = {share, time_of("time_in_a_step", std::llround(outside)), number_of("steps", steps.count)};
  finding.advice = advice();
  finding.at_stake = std::llround(outside * static_cast<double>(steps.count));
  return finding;
}

}  // namespace

Rule rule() {
  return {.id = "time-outside-ops",
          .summary = "A large part of the step passes in nothing that TensorFlow records: Python, callbacks, files",
          .follows = {references::kGpuAnalysis},
          .thresholds = {{"min_share", 0.15, "share",
                          "minimum share of the average step in none of the other parts of 'show overview' (all "
                          "others); XProf calls 15% high"},
                         {"min_time", 500, "us",
                          "minimum time of it in a step: Keras takes a few hundred microseconds of Python for each "
                          "batch, which only more steps for each call would save. Chosen"}},
          .check = each_host_with_devices<check_device>};
}

}  // namespace doctor::rules::time_outside_ops
