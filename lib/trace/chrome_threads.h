#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "trace/event_reader.h"

namespace doctor {

/// The accelerator that a process of a Chrome trace stands for: "/device:GPU:0" of "/device:GPU:0",
/// "/job:worker/replica:0/task:0/device:GPU:0 Compute" and, before TF 1.4, "/gpu:0/stream:all Compute". Nothing for
/// host processes, CPU devices among them.
std::optional<std::string> accelerator_of(std::string_view process_name);

/// Host name in "name /host:CPU", which XProf writes where a trace has several hosts; empty if there is none.
std::string_view host_of(std::string_view process_name);

/// What a process of a Chrome trace stands for, as kind_of_plane() tells of an XSpace: "/host:python-tracer" is none of
/// the job's. Names that say nothing are the host's.
PlaneKind kind_of_process(std::string_view process_name);

/// What is known of one thread of a Chrome trace.
struct ChromeThread {
  std::string name;
  bool is_derived = false;     ///< a line like "XLA Ops" or "TensorFlow Name Scope", which repeats other lines' time
  bool is_step_line = false;   ///< the line "Steps", which XProf derives from the step markers
  std::optional<LaneId> lane;  ///< set once an event of it was kept
};

/// The processes and threads of a Chrome trace, named by its metadata events (phase M), which may come after the events
/// that they name.
class ChromeThreads {
 public:
  ChromeThread& thread(std::uint64_t process, std::uint64_t thread);

  /// Whether events of this process are the job's on the CPU. A process without a name is a host's.
  bool is_host(std::uint64_t process) const;

  /// The name last given; empty if there is none.
  std::string_view process_name(std::uint64_t process) const;

  void name_process(std::uint64_t process, std::string_view name);
  void name_thread(std::uint64_t process, std::uint64_t thread, std::string_view name);

  /// True once a name came that tells events apart which were kept already; the document must be read again.
  bool came_too_late() const { return came_too_late_; }

  /// Keeps the names and forgets everything else, for reading the document again.
  void begin_again();

  const std::vector<std::string>& accelerators() const { return accelerators_; }  ///< in order of appearance
  const std::vector<std::string>& hosts() const { return hosts_; }

 private:
  struct Process {
    std::string name;
    bool is_host = true;
    std::unordered_map<std::uint64_t, ChromeThread> threads;
  };

  std::unordered_map<std::uint64_t, Process> processes_;
  std::vector<std::string> accelerators_;
  std::vector<std::string> hosts_;
  bool came_too_late_ = false;
};

}  // namespace doctor
