#include <fmt/format.h>

#include "diagnose/devices.h"
#include "text/numbers.h"

namespace doctor::rules::kernel_launch_bound {
namespace {

std::vector<Advice> advice(const HostMeasurement& host) {
  std::vector<Advice> advice = {
      {"Let XLA make few large kernels of many small ones.", "@tf.function(jit_compile=True)\ndef train_step(batch):"},
      {"Run the whole step as a graph: in eager mode every op is launched from Python.",
       "model.compile(..., run_eagerly=False, steps_per_execution=10)"},
      {"Give the device more to do per launch: larger batches.", std::nullopt}};
  if (!host.iterators.empty()) {
    advice.push_back(
        {"tf.data's threads may keep the threads that launch kernels off the cores: give the device threads of its "
         "own.",
         "os.environ['TF_GPU_THREAD_MODE'] = 'gpu_private'  # before TensorFlow is imported"});
  }
  return advice;
}

std::optional<Finding> check_device(const HostMeasurement& host, const DeviceActivity& device, Examiner& examiner) {
  if (!device.launch_gaps) {
    examiner.misses("the trace does not show what the host does between the kernels");
    return std::nullopt;
  }
  if (!examiner.at_most(time_of("median_kernel", device.median_kernel), "max_median_kernel")) return std::nullopt;
  const double share = share_of_window(device, *device.launch_gaps);
  if (!examiner.at_least(share_of("launch_share", share), "min_share")) return std::nullopt;
  const bool is_high = examiner.at_least(share_of("launch_share", share), "min_high_share");
  Finding finding = device_finding(
      device, Severity::note,
      fmt::format("{} of the time the device waits for the host to launch the next kernel{} ({}, median {})",
                  format_share(share), is_high ? ", which is a lot" : "", format_count(device.kernel_count, "kernel"),
                  format_time(device.median_kernel)));
  finding.evidence = {share_of("launch_share", share), time_of("launch_gaps", *device.launch_gaps),
                      number_of("gaps", device.launch_gap_count), number_of("kernels", device.kernel_count),
                      time_of("median_kernel", device.median_kernel)};
  finding.advice = advice(host);
  finding.at_stake = *device.launch_gaps;
  return finding;
}

RuleResult check(const RuleContext& context) {
  return for_each_host_with_devices(context, check_device);
}

}  // namespace

Rule rule() {
  return {.id = "kernel-launch-bound",
          .summary = "The device idles between short kernels while the host launches the next one",
          .thresholds = {{"min_share", 0.03, "share",
                          "minimum share of the device's time in short gaps between kernels while the host works on "
                          "ops; XProf calls 3 % of the step moderate"},
                         {"min_high_share", 0.15, "share",
                          "minimum share for the message to say that it is a lot; XProf calls 15 % of the step high"},
                         {"max_median_kernel", 50, "us",
                          "maximum median length of a kernel: launching does not limit a job with longer ones. Chosen: "
                          "a launch takes some 10 us, so longer kernels are queued while the one before them runs"}},
          .check = check};
}

}  // namespace doctor::rules::kernel_launch_bound
