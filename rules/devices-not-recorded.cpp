#include <fmt/format.h>

#include <algorithm>

#include "diagnose/devices.h"
#include "diagnose/pipelines.h"
#include "text/numbers.h"

namespace doctor::rules::devices_not_recorded {
namespace {

std::vector<Advice> advice() {
  return {
      {"See whether TensorFlow finds CUPTI, NVIDIA's library for profiling, in the version of its CUDA. If it is "
       "missing, install cuda-cupti and add its folder to LD_LIBRARY_PATH.",
       "ldconfig -p | grep libcupti"},
      {"See whether users may profile: the job's log then says CUPTI_ERROR_INSUFFICIENT_PRIVILEGES. Allow it, and "
       "restart; containers need --cap-add=SYS_ADMIN.",
       "echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' | sudo tee /etc/modprobe.d/profiling.conf"},
      {"End other profilers (Nsight, nvprof, a second TensorFlow profile): CUPTI serves one at a time.", std::nullopt}};
}

/// TensorFlow has this thread where it works with a GPU.
bool works_with_gpu(const HostMeasurement& host) {
  return std::any_of(host.threads.begin(), host.threads.end(),
                     [](const std::string& thread) { return thread.starts_with("tf_GPU_Event_Manager"); });
}

std::optional<Finding> check_host(const HostMeasurement& host, Examiner& examiner) {
  const bool names_gpu = std::any_of(host.devices.begin(), host.devices.end(),
                                     [](const std::string& device) { return device.find("GPU") != std::string::npos; });
  if (!examiner.holds("the trace names a GPU, or a thread that works with one", names_gpu || works_with_gpu(host))) {
    return std::nullopt;
  }
  if (!examiner.holds("it shows nothing that ran on a device", host.device_profile.devices.empty()))
    return std::nullopt;
  if (!examiner.at_least(number_of("events", host.event_count), "min_events")) return std::nullopt;
  Finding finding;
  finding.severity = Severity::note;
  if (names_gpu) finding.subject = host.devices.front();
  finding.message = fmt::format("the trace shows nothing that ran on {}: if the job uses it, CUPTI could not record",
                                !names_gpu                 ? "the GPU"
                                : host.devices.size() == 1 ? host.devices.front()
                                                           : format_count(host.devices.size(), "device"));
  finding.evidence = {number_of("devices", host.devices.size()), number_of("events", host.event_count)};
  finding.advice = advice();
  return finding;
}

RuleResult check(const RuleContext& context) {
  return for_each_host(context, check_host);
}

}  // namespace

Rule rule() {
  return {.id = "devices-not-recorded",
          .summary = "The trace names a GPU, but shows nothing that ran on it",
          .thresholds = {{"min_events", 100, "events",
                          "minimum events of the host: with fewer the window may have ended before the device began. "
                          "Chosen"}},
          .check = check};
}

}  // namespace doctor::rules::devices_not_recorded
