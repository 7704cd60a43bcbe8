#include <fmt/format.h>

#include <algorithm>

#include "diagnose/devices.h"
#include "diagnose/loaders.h"
#include "diagnose/pipelines.h"
#include "text/numbers.h"

namespace doctor::rules::devices_not_recorded {
namespace {

/// CUPTI is NVIDIA's; other devices are recorded by what drives them.
std::vector<Advice> advice_beside_gpus() {
  return {
      {{"Record on the machine that drives the device", "Use the profiler of what runs on it: JAX's where JAX does."},
       "jax.profiler.start_trace(logdir)\n...  # about thirty steps\njax.profiler.stop_trace()"},
      {{"Let one profiler at a time record the device", "A second one in the same process gets nothing of it."},
       std::nullopt}};
}

std::vector<Advice> advice() {
  return {
      {{"See whether TensorFlow finds CUPTI",
        "It is NVIDIA's library for profiling, in the version of TensorFlow's CUDA. If it is missing, install "
        "cuda-cupti and add its folder to LD_LIBRARY_PATH."},
       "ldconfig -p | grep libcupti"},
      {{"See whether users may profile",
        "If not, the job's log says CUPTI_ERROR_INSUFFICIENT_PRIVILEGES. Allow it, and restart; containers need "
        "--cap-add=SYS_ADMIN."},
       "echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' | sudo tee /etc/modprobe.d/profiling.conf"},
      {{"End other profilers", "CUPTI serves one at a time: Nsight, nvprof or a TensorFlow profile."}, std::nullopt}};
}

/// TensorFlow has this thread where it works with a GPU.
bool works_with_gpu(const HostMeasurement& host) {
  return std::any_of(host.threads.begin(), host.threads.end(),
                     [](const std::string& thread) { return thread.starts_with("tf_GPU_Event_Manager"); });
}

bool is_gpu(const std::string& device) {
  return device.find("GPU") != std::string::npos;
}

/// What is said of devices of which events were recorded that nobody understands, or none.
std::string message_about(const HostMeasurement& host, bool is_about_gpus) {
  const std::vector<DeviceActivity>& devices = host.device_profile.devices;
  const auto unread = std::find_if(devices.begin(), devices.end(), [](const auto& one) { return one.is_unread(); });
  if (unread != devices.end()) {
    return fmt::format("{} on {} are not understood: when it computes is not known",
                       format_count(unread->unread_count, "event"), unread->name);
  }
  const std::string which = host.devices.empty()       ? "the GPU"
                            : host.devices.size() == 1 ? host.devices.front()
                                                       : format_count(host.devices.size(), "device");
  return fmt::format("the trace shows nothing that ran on {}: if the job uses it, {} could not record", which,
                     is_about_gpus ? "CUPTI" : "the profiler");
}

std::optional<Finding> check_host(const HostMeasurement& host, Examiner& examiner) {
  const bool names_gpu = std::any_of(host.devices.begin(), host.devices.end(), is_gpu);
  const bool is_about_gpus = names_gpu || works_with_gpu(host);
  if (!examiner.holds("the trace names a device, or a thread that works with one",
                      is_about_gpus || !host.devices.empty())) {
    return std::nullopt;
  }
  const bool shows_nothing = std::all_of(host.device_profile.devices.begin(), host.device_profile.devices.end(),
                                         [](const DeviceActivity& device) { return device.is_unread(); });
  if (!examiner.holds("it shows nothing that ran on a device", shows_nothing)) return std::nullopt;
  if (!examiner.at_least(number_of("events", host.event_count), "min_events")) return std::nullopt;
  Finding finding;
  finding.severity = Severity::note;
  if (!host.devices.empty()) finding.subject = host.devices.front();
  finding.message = message_about(host, is_about_gpus);
  finding.evidence = {number_of("devices", host.devices.size()), number_of("events", host.event_count)};
  finding.advice = is_about_gpus ? advice() : advice_beside_gpus();
  return finding;
}

RuleResult check(const RuleContext& context) {
  return is_of_torch(context.measurements) ? without_devices(context) : for_each_host(context, check_host);
}

}  // namespace

Rule rule() {
  return {.id = "devices-not-recorded",
          .summary = "The trace names a device, but shows nothing that ran on it",
          .follows = {references::kInstallingProfiler},
          .thresholds = {{"min_events", 100, "events",
                          "minimum events of the host: with fewer the window may have ended before the device began. "
                          "Chosen"}},
          .check = check};
}

}  // namespace doctor::rules::devices_not_recorded
