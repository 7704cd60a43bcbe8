#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "capture/profile_request.h"
#include "capture/profiler_address.h"
#include "io/byte_sink.h"

namespace doctor {

struct CaptureOptions {
  std::vector<ProfilerAddress> hosts;
  TracerOptions tracers = {};
  std::chrono::milliseconds duration{};     ///< of the trace
  std::chrono::milliseconds timeout{};      ///< beyond the duration: for the profiler to collect and send what it has
  std::uint64_t most_bytes = 0;             ///< of the trace of a host
  std::size_t retries = 0;                  ///< of each host that fails in a way that may pass
  std::chrono::milliseconds retry_after{};  ///< before the first retry; twice as long before each that follows

  /// Opens the file that a trace is written to. It appears with finish(), else nothing does.
  std::function<Result<std::unique_ptr<ByteSink>>(const std::string& path)> open_file;

  /// Waits; false once the capture is cancelled. Also asked, with 0, while hosts are waited for.
  std::function<bool(std::chrono::milliseconds)> wait;
};

/// What came of the profiler of one host.
struct HostCapture {
  ProfilerAddress address;
  Result<std::string> file = std::string();  ///< the trace, or why there is none
  bool may_pass = false;                     ///< whether another try may succeed where there is none
};

/// The folder of a run in a log directory, as TensorBoard has it: "<log directory>/plugins/profile/<run>".
std::string run_folder(const std::string& log_directory, const std::string& run);

/// Captures the hosts of a job, all at the same time, into an existing run_folder(): "<host>_<port>.xplane.pb" each. A
/// host that fails does not stop the others; retries are made for all those together that failed in a way that may
/// pass. `log_directory` is an absolute path, because servers before TensorFlow 2.21 do not return the trace: they
/// write it to that very path of their own disk, and only where both see the same files it can be found. The result has
/// one entry for each host, in their order. Errors: this program or machine has no libcurl.
Result<std::vector<HostCapture>> capture_hosts(const CaptureOptions& options, const std::string& log_directory,
                                               const std::string& run);

}  // namespace doctor
