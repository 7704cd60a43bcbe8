#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/time.h"
#include "trace/event_reader.h"
#include "trace/name_memo.h"

namespace doctor {

/// The name of an op as the profiler writes it, taken apart.
struct OpName {
  std::string_view name;  ///< "linear/MatMul"; of an iterator its long name
  std::string_view type;  ///< "MatMul"; "Dataset" of an iterator; "MemcpyHToD" of a copy
};

/// What makes an event an op to the TensorFlow statistics: `name:Type` with a node's name and an op's type, a JAX
/// primitive (`jit(f)/add:add`), an iterator, a copy of memory. Nothing for all other events.
/// Source: ParseTfOpFullname() of tsl/profiler/utils/tf_op_utils.cc.
std::optional<OpName> parse_op_name(std::string_view event_name);

/// All runs of one op on the host or on a device.
struct OpStatistics {
  std::string name;
  std::string type;
  bool is_on_device = false;
  std::uint64_t occurrences = 0;
  Picoseconds total = 0;  ///< ops that it calls on its thread included
  Picoseconds self = 0;   ///< of that: in no other op on its thread
  // Of ops of XLA, whose name is that in the HLO ("fusion.3") and whose type its category; empty or 0 if unknown.
  std::string framework_op = {};  ///< "jit(f)/jit(main)/add"
  std::string source = {};        ///< "train.py:37"
  double flops = 0;               ///< of all runs
  double bytes = 0;               ///< of memory that all runs read and write
};

/// The ops of one trace.
struct OpTable {
  std::vector<OpStatistics> ops;  ///< host and device apart, each most self time first; of equals by type and name
  /// Time from the first op to the last of each thread of the host, from the first event to the last of each device,
  /// summed: what is idle in it was in no op.
  Picoseconds host_time = 0;
  Picoseconds device_time = 0;
};

/// Adds up the ops of a trace. Self times are those of nesting on one thread: ops that an asynchronous one waits for
/// run on others and are not taken out. Keeps one small row for each op that ran on a line that has not ended.
class OpTableBuilder final : public EventSink {
 public:
  void take(const TraceEvent& event) override;
  bool wants(std::string_view /*argument*/) const override { return false; }
  void end_line(const EventLine& line) override;
  /// Lines of the next file are others, even where their indices are the same.
  void end_file();
  OpTable finish();

 private:
  struct Run {
    Picoseconds start = 0;
    Picoseconds duration = 0;
    std::uint32_t op = 0;
  };

  std::uint32_t op_of(const OpName& name, bool is_on_device, std::string_view framework_op = {});
  void take_on_device(const TraceEvent& event);
  void take_xla_op(const TraceEvent& event);
  /// Adds up the ops of one thread; returns the time from its first op to the end of its last.
  Picoseconds add_thread(std::vector<Run>& runs);

  OpTable table_;
  std::unordered_map<std::string, std::uint32_t> ids_;  ///< by side, type and name
  std::string key_;
  NameMemo<std::optional<std::uint32_t>> ops_of_names_;  ///< of the host; nothing: its events are no ops
  std::map<std::size_t, std::vector<Run>> threads_;      ///< of the host, by EventLine::index
  std::map<std::size_t, std::vector<Run>> xla_lines_;    ///< likewise, of devices
  std::map<std::size_t, Interval> devices_;              ///< by EventPlane::index: from the first event to the last
};

}  // namespace doctor
