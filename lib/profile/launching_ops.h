#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/time.h"
#include "trace/event_reader.h"

namespace doctor {

/// Finds the op of the host that launched an event on a device, for traces that do not say it on the device. The driver
/// call lies within the op, and the device's event has the same `correlation_id`.
class LaunchingOps {
 public:
  /// The number of launches that are kept, the first ones: enough for any trace that names no ops on its devices, and a
  /// bound on memory.
  static constexpr std::size_t kMostLaunches = std::size_t{1} << 20;

  /// Takes an event of the host.
  void take(const TraceEvent& event);
  void end_line(const EventLine& line) { open_.erase(line.index); }
  /// Ends a file: lines of the next file are others, even if their indices are the same.
  void end_file() { open_.clear(); }

  /// The launching op, "model/dense/MatMul:MatMul"; empty if it is not known. Valid until the next event is taken.
  std::string_view op_of(std::int64_t correlation) const;

  std::size_t size() const { return launches_.size(); }

 private:
  struct OpenOp {
    Picoseconds end = 0;
    std::uint32_t name = 0;
  };

  std::uint32_t intern(std::string_view name);

  std::unordered_map<std::size_t, std::vector<OpenOp>> open_;  ///< running ops, by EventLine::index
  std::unordered_map<std::string, std::uint32_t> ids_;
  std::vector<std::string> names_;
  std::unordered_map<std::int64_t, std::uint32_t> launches_;  ///< by correlation id
};

}  // namespace doctor
