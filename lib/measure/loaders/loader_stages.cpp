#include <array>
#include <tuple>

#include "base/parse.h"
#include "measure/loaders/batch_making.h"
#include "trace/event_kind.h"

namespace doctor {
namespace {

/// A frame in which a stage makes an element. Without a function, of the ways to ask a dataset of Grain for one.
struct StageFrame {
  std::string_view file;
  std::string_view stage;
  bool hands_over = false;
  std::string_view function = {};
};

constexpr std::string_view kSource = "source";

constexpr std::array<StageFrame, 23> kStageFrames = {{
    {"batch.py", "batch"},
    {"cache.py", "cache"},
    {"filter.py", "filter"},
    {"flatmap.py", "flat_map"},
    {"interleave.py", "interleave"},
    {"limit.py", "limit"},
    {"map.py", "map"},
    {"mix.py", "mix"},
    {"packing.py", "packing"},
    {"packing_concat_then_split.py", "packing"},
    {"prefetch.py", "prefetch", true},
    {"process_prefetch.py", kWorkerProcesses, true},
    {"rebatch.py", "rebatch"},
    {"repeat.py", "repeat"},
    {"shuffle.py", "shuffle"},
    {"slice.py", "slice"},
    {"source.py", kSource},
    {"zip.py", "zip"},
    {"data_loader.py", "sampler", false, "__getitem__"},
    {"fetch.py", "dataset", false, "fetch"},
    {"collate.py", "collate", false, "default_collate"},
    {"sampler.py", "sampler", false, "__iter__"},
    {"dataloader.py", kWorkerProcesses, true, "_try_get_data"},
}};

const StageFrame* stage_frame(const FrameName& frame) {
  const bool asks = frame.function == "__getitem__" || frame.function == "__next__" || frame.function == "_getitems";
  const auto found = std::find_if(kStageFrames.begin(), kStageFrames.end(), [&](const StageFrame& stage) {
    return stage.file == frame.file && (stage.function.empty() ? asks : stage.function == frame.function);
  });
  return found == kStageFrames.end() ? nullptr : &*found;
}

/// Files of Grain, PyTorch, JAX, NumPy and Python that a stage calls on its way to the user's function.
bool is_library(const FrameName& frame) {
  constexpr std::string_view kFiles =
      " _base.py _methods.py _utils.py base.py collate.py connection.py context.py contextlib.py data_loader.py "
      "data_sources.py dataclasses.py dataloader.py dataset.py fetch.py fromnumeric.py function_base.py "
      "functools.py grain_random.py metrics.py monitoring.py monitoring_base.py numeric.py operations.py "
      "pin_memory.py profiler.py prometheus_monitoring.py queue.py queues.py random.py record.py reduction.py "
      "sampler.py samplers.py shape_base.py shared_memory_array.py stats.py thread.py threading.py "
      "traceback_util.py transforms.py tree_lib.py tree_util.py ";
  if (has_word(kFiles, frame.file)) return true;
  const bool is_of_stage = std::any_of(kStageFrames.begin(), kStageFrames.end(),
                                       [&](const StageFrame& stage) { return stage.file == frame.file; });
  // The user may have a map.py, too: what Grain calls in its own is private, but for these.
  return is_of_stage &&
         (frame.function.starts_with('_') || frame.function.starts_with('<') || frame.function == "make_batch" ||
          frame.function == "acquire_rng" || frame.function == "release_rng" || frame.function == "check");
}

/// What a stage does by itself, whatever it calls.
bool is_opaque(const FrameName& frame) {
  return frame.file == "batch.py" && frame.function == "make_batch";
}

/// Functions of C in which a thread waits and neither computes nor holds Python's lock.
bool is_blocking(std::string_view name) {
  constexpr std::array<std::string_view, 12> kCalls = {"$time sleep",        "$posix read",         "$posix pread",
                                                       "$posix open",        "$_socket recv",       "$select select",
                                                       "$<unknown> poll",    "$<unknown> recv",     "$<unknown> read",
                                                       "$<unknown> acquire", "$<unknown> readinto", "$_io open"};
  return std::find(kCalls.begin(), kCalls.end(), name) != kCalls.end();
}

/// What a frame is part of.
struct Place {
  std::size_t stage = LoaderStage::kNone;
  StringId function{};  ///< the user's, if in_function
  bool in_function = false;
  bool is_opaque = false;
};

class StageCollector {
 public:
  explicit StageCollector(const Trace& trace) : trace_(trace), nodes_(trace.loader.nodes), own_(own_times()) {}

  std::vector<LoaderStage> collect() {
    places_.reserve(nodes_.size());
    for (std::size_t index = 0; index < nodes_.size(); ++index) place(index);
    const bool shares_lock = makers_share_lock();
    for (std::size_t index = 0; index < nodes_.size(); ++index) {
      if (places_[index].stage != LoaderStage::kNone) add_time(index, shares_lock);
    }
    for (LoaderStage& stage : stages_) take_out_waits(stage);
    tell_feeders();
    name_functions();
    return in_order();
  }

 private:
  std::vector<Picoseconds> own_times() const {
    std::vector<Picoseconds> own;
    own.reserve(nodes_.size());
    for (const FrameNode& node : nodes_) {
      own.push_back(node.total);
      if (node.parent != kNoRow) own[node.parent] -= node.total;
    }
    for (Picoseconds& time : own) time = std::max<Picoseconds>(time, 0);
    return own;
  }

  void place(std::size_t index) {
    const FrameNode& node = nodes_[index];
    const FrameName frame = frame_name(trace_.strings[node.name]);
    Place place = node.parent == kNoRow ? Place{} : places_[node.parent];
    const bool may_be_stage = !place.in_function && (place.stage == LoaderStage::kNone ||
                                                     (!place.is_opaque && stages_[place.stage].name != kSource));
    const StageFrame* const stage = may_be_stage ? stage_frame(frame) : nullptr;
    if (stage != nullptr) {
      place = {stage_of(*stage, place.stage, node.is_of_maker), {}, false, false};
      stages_[place.stage].calls += node.calls;
    } else if (place.stage != LoaderStage::kNone && !place.in_function && !place.is_opaque && !frame.file.empty()) {
      place.is_opaque = is_opaque(frame);
      place.in_function = !is_library(frame);
      place.function = node.name;
    }
    places_.push_back(place);
  }

  /// Whether threads run the user's Python for so much of the time that they wait for each other.
  bool makers_share_lock() const {
    constexpr double kMuch = 0.5;  // chosen: of the time in which elements are made
    Interval span = {std::numeric_limits<Picoseconds>::max(), 0};
    for (const PythonFrame& maker : trace_.loader.makers) {
      span = {std::min(span.start, maker.span.start), std::max(span.end, maker.span.end)};
    }
    Picoseconds in_python = 0;
    for (std::size_t index = 0; index < nodes_.size(); ++index) {
      if (nodes_[index].is_of_maker && places_[index].in_function && !is_of_c(index)) in_python += own_[index];
    }
    return static_cast<double>(in_python) >= kMuch * static_cast<double>(span.end - span.start) && span.end > 0;
  }

  bool is_of_c(std::size_t index) const { return frame_name(trace_.strings[nodes_[index].name]).file.empty(); }

  /// Of a function of C that may take no time: it gives the lock up, or hands it over, and waits to get it again.
  Picoseconds wait_for_lock(std::size_t index) const {
    constexpr std::uint64_t kEnoughCalls = 8;  // chosen: of so many one had the lock at once
    constexpr Picoseconds kFarLonger = 100;    // than the shortest: sizes of elements differ less
    const FrameNode& node = nodes_[index];
    if (!node.is_of_maker || node.calls < kEnoughCalls || !is_of_c(index)) return 0;
    const Picoseconds least = static_cast<Picoseconds>(node.calls) * node.shortest;
    return own_[index] / kFarLonger > least ? own_[index] - least : 0;
  }

  std::size_t stage_of(const StageFrame& frame, std::size_t consumer, bool is_of_maker) {
    const auto [known, is_new] = indices_.try_emplace({consumer, frame.stage, is_of_maker}, stages_.size());
    if (is_new) {
      LoaderStage& stage = stages_.emplace_back();
      stage.name = frame.stage;
      stage.consumer = consumer;
      stage.hands_over = frame.hands_over;
      is_of_maker_.push_back(is_of_maker);
    }
    return known->second;
  }

  void add_time(std::size_t index, bool shares_lock) {
    const FrameNode& node = nodes_[index];
    const Place& place = places_[index];
    LoaderStage& stage = stages_[place.stage];
    const bool is_blocked = is_blocking(trace_.strings[node.name]);
    const Picoseconds for_lock = shares_lock && !is_blocked ? wait_for_lock(index) : 0;
    const Picoseconds own = own_[index] - for_lock;
    stage.for_lock += for_lock;
    (node.is_of_maker ? stage.in_makers : stage.in_next) += own;
    if (is_blocked) stage.blocked += own;
    if (!place.in_function || stage.hands_over) return;
    stage.in_functions += own;
    functions_[place.stage][place.function] += own;
  }

  /// A stage that hands over works little: it looks at its buffer. What it does with processes is to wait for them.
  static void take_out_waits(LoaderStage& stage) {
    if (!stage.hands_over) return;
    stage.waited = stage.name == kWorkerProcesses ? stage.in_next : std::min(stage.blocked, stage.in_next);
    stage.in_next -= stage.waited;
    stage.in_makers = stage.blocked = 0;
  }

  /// Grain has threads that take from processes and fill the buffer of next(): they are makers, too.
  void tell_feeders() {
    const bool has_buffer = std::any_of(stages_.begin(), stages_.end(), [](const LoaderStage& stage) {
      return stage.hands_over && stage.name != kWorkerProcesses;
    });
    for (std::size_t index = 0; index < stages_.size() && has_buffer; ++index) {
      const bool is_alone = stages_[index].consumer == LoaderStage::kNone;
      if (is_alone && stages_[index].name == kWorkerProcesses) is_of_maker_[index] = true;
    }
  }

  void name_functions() {
    for (const auto& [stage, times] : functions_) {
      const auto longest = std::max_element(times.begin(), times.end(),
                                            [](const auto& a, const auto& b) { return a.second < b.second; });
      stages_[stage].function = describe_frame(trace_.strings[longest->first]);
    }
  }

  /// What makers do stands below the stage that waits for it. Those of next() come first.
  std::vector<LoaderStage> in_order() {
    std::vector<std::size_t> order(stages_.size());
    for (std::size_t index = 0; index < order.size(); ++index) order[index] = index;
    std::stable_partition(order.begin(), order.end(), [&](std::size_t index) { return !is_of_maker_[index]; });
    std::vector<std::size_t> new_index(stages_.size());
    std::vector<LoaderStage> sorted;
    std::size_t waiting = LoaderStage::kNone;
    for (const std::size_t index : order) {
      LoaderStage& stage = stages_[index];
      if (stage.consumer != LoaderStage::kNone) {
        stage.consumer = new_index[stage.consumer];
      } else if (is_of_maker_[index]) {
        stage.consumer = waiting;
      }
      new_index[index] = sorted.size();
      if (stage.hands_over && !is_of_maker_[index]) waiting = sorted.size();
      sorted.push_back(std::move(stage));
    }
    return sorted;
  }

  const Trace& trace_;
  const std::vector<FrameNode>& nodes_;
  const std::vector<Picoseconds> own_;  ///< by node: without the frames inside
  std::vector<Place> places_;           ///< by node
  std::vector<LoaderStage> stages_;
  std::vector<bool> is_of_maker_;  ///< by stage
  std::map<std::tuple<std::size_t, std::string_view, bool>, std::size_t> indices_;
  std::map<std::size_t, std::map<StringId, Picoseconds>> functions_;
};

}  // namespace

std::vector<LoaderStage> loader_stages(const Trace& trace) {
  return StageCollector(trace).collect();
}

std::optional<SlowestStage> slowest_stage(const std::vector<LoaderStage>& stages) {
  Picoseconds waited = 0;
  Picoseconds worked = 0;
  for (const LoaderStage& stage : stages) {
    const bool is_of_feeder = stage.name == kWorkerProcesses && stage.consumer != LoaderStage::kNone;
    waited += is_of_feeder ? 0 : stage.waited;
    worked += stage.in_next;
  }
  SlowestStage slowest;
  slowest.is_in_next = worked >= waited;
  Picoseconds all = 0;
  Picoseconds most = 0;
  Picoseconds second = 0;
  for (std::size_t index = 0; index < stages.size(); ++index) {
    const Picoseconds time = slowest.is_in_next ? stages[index].in_next : stages[index].in_makers;
    all += time;
    if (time > most) slowest.stage = index;
    second = std::max(second, std::min(most, time));
    most = std::max(most, time);
  }
  if (most <= 0) return std::nullopt;
  slowest.share = static_cast<double>(most) / static_cast<double>(all);
  slowest.share_of_next = static_cast<double>(second) / static_cast<double>(all);
  return slowest;
}

std::string describe_frame(std::string_view name) {
  const FrameName frame = frame_name(name);
  std::string words(frame.function == "<lambda>" ? "a lambda" : frame.function);
  return words.append(" at ").append(frame.file).append(":").append(frame.line);
}

}  // namespace doctor
