#pragma once

#include "base/result.h"
#include "capture/capture.h"
#include "io/file_descriptor.h"
#include "reading_sandbox.h"

namespace doctor {

/// A capture in the log directory.
struct CapturedRun {
  std::string run;                 ///< the name of its folder; see run_folder()
  std::vector<HostCapture> hosts;  ///< in the order of CaptureOptions::hosts
};

/// A process that has the network and writes traces into the log directory, but reads none; the process that reads them
/// has neither right. It is told to capture, or to remove the run that it captured last, and accepts nothing else from
/// the other side. It ends with the other side, and what it is capturing then is removed.
class CaptureProcess {
 public:
  /// Forks it, while there are no threads. In its sandbox it gives up every right that captures do not need.
  CaptureProcess(const CaptureOptions& options, const std::string& log_directory, const SandboxChoice& sandbox);
  CaptureProcess(const CaptureProcess&) = delete;
  CaptureProcess& operator=(const CaptureProcess&) = delete;
  /// Waits until it has ended.
  ~CaptureProcess();

  /// Captures all hosts. After interrupting_signal() it ends early, and nothing is stored. Errors: the folder for the
  /// traces cannot be made, there is no libcurl, or no process.
  Result<CapturedRun> capture();

  /// Removes the run that was captured last.
  void remove_last_run();

 private:
  bool ask(std::string_view request) const;
  Result<std::string> wait_for_answer();

  const CaptureOptions& options_;
  FileDescriptor socket_;
  int process_ = -1;
  std::string unread_;
};

}  // namespace doctor
