#include <fmt/format.h>

#include <algorithm>

#include "diagnose/devices.h"
#include "text/numbers.h"

namespace doctor::rules::tensor_cores_unused {
namespace {

std::vector<Advice> advice() {
  return {{{"Compute in 16 bits", "Kernels in 32 bits run on TensorCores only from Ampere (TF32) on."},
           "tf.keras.mixed_precision.set_global_policy('mixed_float16')  # before the model is built"},
          {{"Make batch, layer and channel sizes multiples of 8", "Of 16 for bytes, and pad the vocabulary."},
           std::nullopt}};
}

std::optional<Finding> check_device(const HostMeasurement& host, const DeviceActivity& device, Examiner& examiner) {
  if (!host.device_profile.is_aligned) {
    examiner.misses("a TF1 timeline shows the ops on the device, but not the kernels that they ran as");
    return std::nullopt;
  }
  if (device.of_named_ops == 0) {
    examiner.misses("the trace does not show which ops the kernels belong to");
    return std::nullopt;
  }
  if (runs_jax(host)) {
    examiner.misses("the names of the kernels that XLA makes do not tell what they compute with");
    return std::nullopt;
  }
  const double eligible = share_of_kernels(device, device.tensor_core_eligible);
  if (!examiner.at_least(share_of("eligible_share", eligible), "min_eligible_share")) return std::nullopt;
  const double used = static_cast<double>(device.on_tensor_cores) /
                      static_cast<double>(std::max<Picoseconds>(device.tensor_core_eligible, 1));
  if (!examiner.at_most(share_of("tensor_core_share", used), "max_tensor_core_share")) return std::nullopt;
  Finding finding =
      device_finding(device, Severity::note,
                     fmt::format("{} of the kernel time is in ops that could run on TensorCores; {} of that does",
                                 format_share(eligible), format_share(used)));
  finding.evidence = {share_of("eligible_share", eligible), share_of("tensor_core_share", used),
                      time_of("eligible", device.tensor_core_eligible),
                      time_of("on_tensor_cores", device.on_tensor_cores)};
  finding.advice = advice();
  finding.at_stake = device.tensor_core_eligible - device.on_tensor_cores;
  return finding;
}

}  // namespace

Rule rule() {
  return {.id = "tensor-cores-unused",
          .summary = "Ops that could run on TensorCores run on kernels that do not use them",
          .follows = {references::kGpuAnalysis, references::kMixedPrecision},
          .thresholds = {{"min_eligible_share", 0.20, "share",
                          "minimum share of the kernel time in ops that could run on TensorCores; chosen: below a "
                          "fifth even a doubled speed gains less than a tenth"},
                         {"max_tensor_core_share", 0.10, "share",
                          "TensorCores count as unused up to this share of that time in kernels that use them; chosen, "
                          "like XProf's limit for 16-bit compute"}},
          .check = each_host_with_gpus<check_device>};
}

}  // namespace doctor::rules::tensor_cores_unused
