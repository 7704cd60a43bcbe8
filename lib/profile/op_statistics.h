#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/time.h"
#include "profile/line_walks.h"
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
/// run on others and are not taken out.
class OpTableBuilder final : public EventSink {
 public:
  explicit OpTableBuilder(LineOrder order = LineOrder::any)
      : threads_(order, {*this, table_.host_time}), xla_lines_(order, {*this, table_.device_time}) {}

  void take(const TraceEvent& event) override;
  ArgumentGroups groups_of(std::string_view /*argument*/) const override { return 0; }
  EventUse use_of(std::string_view name) const override { return {parse_op_name(name).has_value(), 0}; }
  void end_line(const EventLine& line) override;
  /// Lines of the next file are others, even where their indices are the same.
  void end_file();
  OpTable finish();

  /// See LineWalks.
  bool is_disordered() const { return threads_.is_disordered() || xla_lines_.is_disordered(); }

 private:
  struct Run {
    Picoseconds start = 0;
    Picoseconds duration = 0;
    std::uint32_t op = 0;
  };

  /// Adds up the ops of one thread, and the time from its first op to the end of its last.
  class ThreadWalk {
   public:
    ThreadWalk(OpTableBuilder& builder, Picoseconds& time) : builder_(&builder), time_(&time) {}

    static bool is_before(const Run& a, const Run& b) {
      return a.start < b.start || (a.start == b.start && a.duration > b.duration);
    }
    void take(const Run& run);
    void finish() { *time_ += last_end_ - first_start_; }

   private:
    struct OpenRun {
      Picoseconds end = 0;
      std::uint32_t op = 0;
    };

    OpTableBuilder* builder_;
    Picoseconds* time_;
    bool has_begun_ = false;
    Picoseconds first_start_ = 0;
    Picoseconds last_end_ = 0;
    std::vector<OpenRun> open_;  ///< those that are running
  };

  std::uint32_t op_of(const OpName& name, bool is_on_device, std::string_view framework_op = {});
  void take_on_device(const TraceEvent& event);
  void take_xla_op(const TraceEvent& event);

  OpTable table_;
  std::unordered_map<std::string, std::uint32_t> ids_;  ///< by side, type and name
  std::string key_;
  NameMemo<std::optional<std::uint32_t>> ops_of_names_;  ///< of the host; nothing: its events are no ops
  LineWalks<Run, ThreadWalk> threads_;                   ///< of the host
  LineWalks<Run, ThreadWalk> xla_lines_;                 ///< of devices
  std::map<std::size_t, Interval> devices_;              ///< by EventPlane::index: from the first event to the last
};

}  // namespace doctor
