#pragma once

#include "base/time.h"
#include "profile/gpu_event.h"
#include "profile/line_walks.h"
#include "trace/event_reader.h"

namespace doctor {

/// Parses the name of an event that counts as an op in the TensorFlow statistics: `name:Type` with a node's name and an
/// op's type, a JAX primitive (`jit(f)/add:add`), an iterator, a copy of memory. nullopt for all other events. Source:
/// ParseTfOpFullname() of tsl/profiler/utils/tf_op_utils.cc.
std::optional<OpName> parse_op_name(std::string_view event_name);

/// All runs of one op on the host or on a device.
struct OpStatistics {
  std::string name;
  std::string type;
  bool is_on_device = false;
  std::uint64_t occurrences = 0;
  Picoseconds total = 0;  ///< including ops that it calls on its thread
  Picoseconds self = 0;   ///< the part outside of other ops on its thread
  // For ops of XLA, whose name is that in the HLO ("fusion.3") and whose type is its category; empty or 0 if unknown.
  std::string framework_op = {};  ///< "jit(f)/jit(main)/add"
  std::string source = {};        ///< "train.py:37"
  double flops = 0;               ///< of all runs
  double bytes = 0;               ///< memory that all runs read and write
};

/// The ops of one trace.
struct OpTable {
  std::vector<OpStatistics> ops;  ///< host and device separately, each most self time first, then by type and name
  /// The time from the first op to the last of each thread of the host, and from the first event to the last of each
  /// device, summed. Idle time is the part of it outside of ops.
  Picoseconds host_time = 0;
  Picoseconds device_time = 0;
};

/// Adds up the ops of a trace. Self times come from nesting on one thread: an op that an asynchronous op waits for runs
/// on another thread and is not subtracted.
class OpTableBuilder final : public EventSink {
 public:
  explicit OpTableBuilder(LineOrder order = LineOrder::any)
      : threads_(order, {*this, table_.host_time}), xla_lines_(order, {*this, table_.device_time}) {}

  void take(const TraceEvent& event) override;
  ArgumentGroups groups_of(std::string_view /*argument*/) const override { return 0; }
  EventUse use_of(std::string_view name) override { return {parse_op_name(name).has_value(), 0}; }
  void end_line(const EventLine& line) override;
  /// Ends a file: lines of the next file are others, even if their indices are the same.
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
    std::vector<OpenRun> open_;  ///< running ops
  };

  std::uint32_t op_of(const OpName& name, bool is_on_device, std::string_view framework_op = {});
  void take_on_device(const TraceEvent& event);
  void take_xla_op(const TraceEvent& event);

  OpTable table_;
  std::unordered_map<std::string, std::uint32_t> ids_;  ///< by side, type and name
  std::string key_;
  NameMemo<std::optional<std::uint32_t>> ops_of_names_;  ///< for the host; nullopt: events of this name are not ops
  LineWalks<Run, ThreadWalk> threads_;                   ///< of the host
  LineWalks<Run, ThreadWalk> xla_lines_;                 ///< of devices
  std::map<std::size_t, Interval> devices_;              ///< from the first event to the last, by EventPlane::index
};

}  // namespace doctor
