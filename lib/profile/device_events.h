#pragma once

#include "profile/gpu_event.h"
#include "trace/event_reader.h"

namespace doctor {

/// An event that is a device's own work. Valid until the next event.
struct DeviceEvent {
  const TraceEvent& event;
  const std::string& device;  ///< "/device:GPU:0"
  const GpuEvent* meaning;    ///< null for a run of one of XLA's programs: is_xla_module_line()
};

/// Understands the events of devices, once for all who look at them. Few kernels run again and again: the meaning of
/// events of one line that have one name and the same texts is worked out for the first of them.
class DeviceEvents {
 public:
  /// The groups of the arguments by which devices are understood: EventSink::device_groups_of().
  static ArgumentGroups groups_of(std::string_view argument);

  /// nullopt for events that repeat others, and for those of hosts.
  std::optional<DeviceEvent> understand(const TraceEvent& event);

  /// Ends a file: lines and the numbers of texts of the next file are others.
  void end_file();

 private:
  /// More than any job has kernels: no file fills the memory with them.
  static constexpr std::size_t kMostMeanings = std::size_t{1} << 14;

  struct Meaning {
    GpuEvent event;
    std::string name;
    std::string op_name;
  };

  struct Line {
    std::optional<std::string> device;
    bool has_programs = false;
  };

  const Line& line_of(const EventLine& line);
  const GpuEvent& meaning_of(const TraceEvent& event);
  bool find_key(const TraceEvent& event);

  std::unordered_map<const EventLine*, Line> lines_;
  const EventLine* last_ = nullptr;
  const Line* line_of_last_ = nullptr;
  KernelNames names_;
  std::unordered_map<std::string, Meaning> meanings_;
  std::uint32_t meaning_count_ = 0;  ///< of all files
  std::string key_;
  GpuEvent passing_;
};

}  // namespace doctor
