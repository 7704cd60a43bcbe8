#pragma once

#include <functional>
#include <set>
#include <unordered_map>

#include "base/ids.h"
#include "trace/chrome/json_events.h"
#include "trace/event_reader.h"

namespace doctor {

/// The accelerator that a process of a Chrome trace is: "/device:GPU:0" for "/device:GPU:0",
/// "/job:worker/replica:0/task:0/device:GPU:0 Compute" and, before TF 1.4, "/gpu:0/stream:all Compute". nullopt for
/// host processes, including CPU devices.
std::optional<std::string> accelerator_of(std::string_view process_name);

/// The host in a name like "name /host:CPU", which XProf writes if a trace has several hosts; empty if there is none.
std::string_view host_of(std::string_view process_name);

/// The kind of a process of a Chrome trace, as kind_of_plane() for an XSpace: "/host:python-tracer" is not part of the
/// job. A name that says nothing counts as the host's.
PlaneKind kind_of_process(std::string_view process_name);

struct ChromeThread;

struct ChromeProcess {
  std::uint64_t id = 0;
  std::string name;                     ///< the last one given; empty if there is none
  std::string device;                   ///< that its label says it is: "/device:GPU:0"; empty if none does
  PlaneKind kind = PlaneKind::host;     ///< the kind that the name says
  bool is_host = true;                  ///< false once it had a name that is not a host's
  bool is_annotation = false;           ///< its events are from `convert --annotate`: nobody recorded them
  ChromeThread* last_thread = nullptr;  ///< the thread seen last; ChromeThread::previous leads to the others
  const EventPlane* plane = nullptr;    ///< set by the reader at the first event of the process
};

/// What a Chrome trace says of one of its threads. It is small: there may be a million, most of them without an event.
struct ChromeThread {
  ChromeProcess* process = nullptr;  ///< never null
  ChromeThread* previous = nullptr;  ///< the thread of the same process that was seen before this one; null if none
  std::uint64_t id = 0;
  std::unique_ptr<const std::string> given_name;  ///< null if it has none
  LaneId lane = kNoLane;                          ///< set by the reader at its first event
  bool is_derived = false;    ///< a line like "XLA Ops" or "TensorFlow Name Scope", which repeats other lines' time
  bool is_step_line = false;  ///< the line "Steps", which XProf derives from the step markers

  std::string_view name() const { return given_name == nullptr ? std::string_view{} : *given_name; }
};

/// The processes and threads of a Chrome trace. Its metadata events (phase M) name them, and may come after the events
/// that they name.
class ChromeThreads {
 public:
  ChromeThreads() = default;
  ChromeThreads(const ChromeThreads&) = delete;
  ChromeThreads& operator=(const ChromeThreads&) = delete;

  /// The entry of a thread, whose reference stays valid. Neighbours in a file are mostly of one thread.
  ChromeThread& thread(std::uint64_t process, std::uint64_t thread) {
    if (last_ == nullptr || last_->id != thread || last_->process->id != process) last_ = &find_thread(process, thread);
    return *last_;
  }
  const ChromeProcess& process(std::uint64_t id) { return known_process(id); }

  /// Lists the device that a process with events is by its label. PyTorch labels processes of devices without events.
  void list_device(const ChromeProcess& process);

  /// Tests whether an event of this process was recorded. Metadata events count as recorded.
  bool is_recorded(const JsonEvent& event) {
    return !has_annotations_ || event.phase == 'M' || !known_process(event.process).is_annotation;
  }

  /// Tests whether there are processes whose events nobody recorded.
  bool has_annotations() const { return has_annotations_; }

  /// Takes a metadata event (phase M), if it gives a name or a label.
  void take_metadata(const JsonEvent& event);

  /// True once a name arrived that changes what was kept already; the document must be read again.
  bool came_too_late() const { return came_too_late_; }

  /// Keeps the names and forgets everything else, before the document is read again.
  void begin_again();

  const std::vector<std::string>& accelerators() const { return accelerators_; }  ///< in order of appearance
  const std::vector<std::string>& hosts() const { return hosts_; }
  bool has_host(std::string_view name) const { return known_hosts_.contains(name); }

 private:
  struct ThreadKey {
    std::uint64_t process = 0;
    std::uint64_t thread = 0;

    friend bool operator==(const ThreadKey&, const ThreadKey&) = default;
  };
  struct HashOfKey {
    std::size_t operator()(const ThreadKey& key) const {
      return static_cast<std::size_t>(key.process * 0x9e37'79b9'7f4a'7c15u + key.thread);
    }
  };

  ChromeProcess& known_process(std::uint64_t id);
  ChromeThread& find_thread(std::uint64_t process, std::uint64_t thread);
  void name_process(std::uint64_t id, std::string_view name);
  void label_process(std::uint64_t id, std::string_view label);
  void become_device(ChromeProcess& process);
  void name_thread(ChromeThread& thread, std::string_view name);

  std::unordered_map<std::uint64_t, ChromeProcess> processes_;
  /// One map for the threads of all processes. A map for each would cost 200 bytes for each process with one thread,
  /// and a hostile file has 300,000.
  std::unordered_map<ThreadKey, ChromeThread, HashOfKey> threads_;
  ChromeThread* last_ = nullptr;
  std::vector<std::string> accelerators_;
  std::vector<std::string> hosts_;
  std::set<std::string, std::less<>> known_accelerators_;
  std::set<std::string, std::less<>> known_hosts_;
  bool came_too_late_ = false;
  bool has_annotations_ = false;
};

}  // namespace doctor
