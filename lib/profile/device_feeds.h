#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/time.h"
#include "trace/event_reader.h"

namespace doctor {

/// The thread of the host that copies data to a device.
struct DeviceFeed {
  std::string device;  ///< "/device:GPU:0"
  /// the thread that started most of the copies, by time; other threads may have the same name
  std::string thread;
  std::size_t line = 0;         ///< tells threads of one name apart (EventLine::index)
  Picoseconds copies = 0;       ///< total time of the copies to the device whose thread is known
  Picoseconds by_thread = 0;    ///< the part that this thread started
  std::vector<Interval> spans;  ///< times in which something was copied to it, sorted and disjoint
};

/// Matches copies on devices with the driver calls on the host that started them, by `correlation_id`.
class DeviceFeedsBuilder final : public EventSink {
 public:
  /// The number of a host's copies that are kept, the first ones. It bounds memory; any part of a run shows who feeds
  /// its devices.
  static constexpr std::size_t kMostCopies = std::size_t{1} << 18;

  void take(const TraceEvent& event) override;

  /// The feeds by the name of the device; devices without such copies are left out. Empty afterwards.
  std::vector<DeviceFeed> finish();

 private:
  struct Call {
    std::int64_t correlation = 0;
    std::size_t line = 0;
  };
  struct Copy {
    std::int64_t correlation = 0;
    Interval span;
  };

  std::vector<Call> calls_;
  std::map<std::size_t, std::string> threads_;       ///< names of threads that copy, by EventLine::index
  std::map<std::string, std::vector<Copy>> copies_;  ///< by device
  std::size_t copy_count_ = 0;
};

}  // namespace doctor
