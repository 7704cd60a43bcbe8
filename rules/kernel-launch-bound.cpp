#include <fmt/format.h>

#include <cmath>

#include "diagnose/devices.h"
#include "measure/steps/step_table.h"
#include "text/numbers.h"

namespace doctor::rules::kernel_launch_bound {
namespace {

std::vector<Advice> advice(const HostMeasurement& host) {
  std::vector<Advice> advice = {
      {"Let XLA make few large kernels of many small ones", "@tf.function(jit_compile=True)\ndef train_step(batch):"},
      {{"Run the whole step as a graph", "In eager mode every op is launched from Python."},
       "model.compile(..., run_eagerly=False, steps_per_execution=10)"},
      {"Give the device more to do per launch: larger batches", std::nullopt}};
  if (!host.iterators.empty()) {
    advice.push_back({{"Give the device threads of its own",
                       "tf.data's threads may keep the threads that launch kernels off the cores."},
                      "os.environ['TF_GPU_THREAD_MODE'] = 'gpu_private'  # before TensorFlow is imported"});
  }
  return advice;
}

std::optional<Finding> check_device(const HostMeasurement& host, const DeviceActivity& device, Examiner& examiner) {
  if (!host.device_profile.is_aligned) {
    examiner.misses("a TF1 timeline does not show what the host does between the kernels");
    return std::nullopt;
  }
  const StepSummary steps = summarize_steps({&host.steps, 1});
  const double launch = steps.parts[static_cast<std::size_t>(StepPart::kernel_launch)];
  if (steps.count == 0) {
    examiner.misses("the trace shows no steps");
    return std::nullopt;
  }
  if (!examiner.at_most(time_of("median_kernel", device.median_kernel), "max_median_kernel")) return std::nullopt;
  const double share = launch / steps.average;
  if (!examiner.at_least(share_of("launch_share", share), "min_share")) return std::nullopt;
  const bool is_high = examiner.at_least(share_of("launch_share", share), "min_high_share");
  Finding finding = device_finding(
      device, Severity::note,
      fmt::format("during {} of a step no device works and the host launches the next kernel{} ({}, median {})",
                  format_share(share), is_high ? ", which is a lot" : "", format_count(device.kernel_count, "kernel"),
                  format_time(device.median_kernel)));
  finding.evidence = {share_of("launch_share", share), time_of("launch_in_a_step", std::llround(launch)),
                      number_of("steps", steps.count), number_of("kernels", device.kernel_count),
                      time_of("median_kernel", device.median_kernel)};
  finding.advice = advice(host);
  finding.at_stake = std::llround(launch * static_cast<double>(steps.count));
  return finding;
}

}  // namespace

Rule rule() {
  return {.id = "kernel-launch-bound",
          .summary = "The device idles between short kernels while the host launches the next one",
          .follows = {references::kGpuAnalysis},
          .thresholds = {{"min_share", 0.03, "share",
                          "minimum share of a step in which no device works while the host launches, or prepares to, "
                          "as 'show overview' has it; XProf calls 3% of the step moderate"},
                         {"min_high_share", 0.15, "share",
                          "minimum share for the message to say that it is a lot; XProf calls 15% of the step high"},
                         {"max_median_kernel", 50, "us",
                          "maximum median length of a kernel: launching does not limit a job with longer ones. Chosen: "
                          "a launch takes some 10 us, so longer kernels are queued while the one before them runs"}},
          .check = each_host_with_gpus<check_device>};
}

}  // namespace doctor::rules::kernel_launch_bound
