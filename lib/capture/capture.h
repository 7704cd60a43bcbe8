#pragma once

#include <functional>

#include "base/result.h"
#include "capture/profile_messages.h"
#include "capture/profiler_address.h"
#include "io/byte_source.h"

namespace doctor {

struct CaptureOptions {
  std::vector<ProfilerAddress> hosts;
  TracerOptions tracers = {};
  std::chrono::milliseconds duration{};     ///< length of the trace
  std::chrono::milliseconds timeout{};      ///< beyond the duration, for the profiler to collect and send its data
  std::uint64_t most_bytes = 0;             ///< largest trace of a host
  std::size_t retries = 0;                  ///< number of retries for each host with a failure that may be temporary
  std::chrono::milliseconds retry_after{};  ///< wait before the first retry; it doubles for each further one

  /// Opens the file that a trace is written to. The file appears with finish(), or not at all.
  std::function<Result<std::unique_ptr<ByteSink>>(const std::string& path)> open_file;

  /// Waits, and returns false once the capture is cancelled. Also called, with 0, while hosts are waited for.
  std::function<bool(std::chrono::milliseconds)> wait;
};

/// The result for the profiler of one host.
struct HostCapture {
  ProfilerAddress address;
  Result<std::string> file = std::string();  ///< the trace, or why there is none
  bool may_pass = false;                     ///< if there is none: another try may succeed
};

/// The folder of a run in a log directory, where TensorBoard expects it: "<log directory>/plugins/profile/<run>".
std::string run_folder(const std::string& log_directory, const std::string& run);

/// Captures the hosts of a job, all at the same time, into an existing run_folder(): "<host>_<port>.xplane.pb" each. A
/// host that fails does not stop the others; those whose failure may be temporary are retried together.
///
/// `log_directory` is an absolute path, because servers before TensorFlow 2.21 do not return the trace: they write it
/// to that path on their own disk, where it can only be found if both see the same files. The result has one entry for
/// each host, in their order. Errors: this program or machine has no libcurl.
Result<std::vector<HostCapture>> capture_hosts(const CaptureOptions& options, const std::string& log_directory,
                                               const std::string& run);

}  // namespace doctor
