#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/time.h"
#include "trace/event_reader.h"

namespace doctor {

/// Which thread of the host copies data to a device.
struct DeviceFeed {
  std::string device;         ///< "/device:GPU:0"
  std::string thread;         ///< the one that started most of the copies, by time; its name may be that of others, too
  std::size_t line = 0;       ///< tells threads of one name apart (EventLine::index)
  Picoseconds copies = 0;     ///< all copies to the device whose thread is known, added up
  Picoseconds by_thread = 0;  ///< of these: that this thread started
  std::vector<Interval> spans;  ///< when something was copied to it, sorted and disjoint
};

/// Matches copies on devices with the calls of the driver on the host that started them, by `correlation_id`.
class DeviceFeedsBuilder final : public EventSink {
 public:
  /// Of the copies of a host the first are kept, which bounds memory; any part of a run shows who feeds its devices.
  static constexpr std::size_t kMostCopies = std::size_t{1} << 18;

  void take(const TraceEvent& event) override;

  /// By the name of the device; devices without such copies are left out. Empty afterwards.
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
  std::map<std::size_t, std::string> threads_;       ///< names by EventLine::index, of those that copy
  std::map<std::string, std::vector<Copy>> copies_;  ///< by device
  std::size_t copy_count_ = 0;
};

}  // namespace doctor
