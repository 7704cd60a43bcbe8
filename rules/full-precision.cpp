#include <fmt/format.h>

#include "diagnose/devices.h"
#include "text/numbers.h"

namespace doctor::rules::full_precision {
namespace {

std::vector<Advice> advice() {
  return {{"Compute in 16 bits and keep the weights in 32",
           "tf.keras.mixed_precision.set_global_policy('mixed_float16')  # before the model is built"},
          {"In a training loop of your own, scale the loss as well",
           "optimizer = tf.keras.mixed_precision.LossScaleOptimizer(optimizer)"}};
}

std::optional<Finding> check_device(const HostMeasurement& host, const DeviceActivity& device, Examiner& examiner) {
  if (!host.device_profile.is_aligned) {
    examiner.misses("a TF1 timeline shows the ops on the device, but not the kernels that they ran as");
    return std::nullopt;
  }
  const Picoseconds computing = device.half_precision + device.full_precision;
  if (!examiner.holds("the device computes", computing > 0)) return std::nullopt;
  if (device.of_named_ops == 0) {
    examiner.misses("the trace does not show which ops the kernels belong to");
    return std::nullopt;
  }
  if (runs_jax(host)) {
    examiner.misses("the names of the kernels that XLA makes do not tell what they compute with");
    return std::nullopt;
  }
  const double half = static_cast<double>(device.half_precision) / static_cast<double>(computing);
  const double eligible = share_of_kernels(device, device.tensor_core_eligible);
  if (!examiner.at_most(share_of("half_precision_share", half), "max_half_share") ||
      !examiner.at_least(share_of("eligible_share", eligible), "min_eligible_share")) {
    return std::nullopt;
  }
  Finding finding =
      device_finding(device, Severity::note,
                     fmt::format("{} of the device's compute time is in 32 bits, and {} is in ops that could use 16",
                                 format_share(1 - half), format_share(eligible)));
  finding.evidence = {share_of("half_precision_share", half), share_of("eligible_share", eligible),
                      time_of("full_precision", device.full_precision),
                      time_of("half_precision", device.half_precision)};
  finding.advice = advice();
  finding.at_stake = device.tensor_core_eligible;
  return finding;
}

}  // namespace

Rule rule() {
  return {.id = "full-precision",
          .summary = "The device computes in 32 bits what it could compute in 16",
          .follows = {references::kMixedPrecision},
          .thresholds = {{"max_half_share", 0.10, "share",
                          "a job counts as one in 32 bits up to this share of the compute time in 16 bits; XProf "
                          "recommends mixed precision below 10%"},
                         {"min_eligible_share", 0.50, "share",
                          "minimum share of the kernel time in ops that could run on TensorCores (matrix products, "
                          "convolutions) for 16 bits to pay; chosen: the larger part"}},
          .check = each_host_with_gpus<check_device>};
}

}  // namespace doctor::rules::full_precision
