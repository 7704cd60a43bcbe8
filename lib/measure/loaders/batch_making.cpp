#include "measure/loaders/batch_making.h"

#include <set>

#include "base/intervals.h"
#include "base/ranks.h"
#include "trace/event_kind.h"
#include "trace/json_number.h"

namespace doctor {
namespace {

/// A training and its validation may have a dataset each: the one that takes the most time.
StringId longest_name(const std::vector<PythonFrame>& items) {
  std::map<StringId, Picoseconds> times;
  for (const PythonFrame& item : items) times[item.name] += item.span.end - item.span.start;
  return std::max_element(times.begin(), times.end(), [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

void describe_function(const Trace& trace, BatchMaking& making) {
  const StringId name = longest_name(trace.loader.items);
  making.function = describe_frame(trace.strings[name]);
  std::set<LaneId> takers;
  for (const PythonFrame& frame : trace.next_frames) takers.insert(frame.lane);
  std::set<LaneId> workers;
  std::vector<Picoseconds> lengths;
  for (const PythonFrame& item : trace.loader.items) {
    if (item.name != name) continue;
    lengths.push_back(item.span.end - item.span.start);
    if (!takers.contains(item.lane)) workers.insert(item.lane);
  }
  making.workers = workers.size();
  making.typical = median(std::move(lengths));
}

BatchMaking making_of_keras(const Trace& trace, bool has_queue) {
  BatchMaking making;
  making.is_of_keras = true;
  making.has_queue = has_queue;
  making.ready = trace.loader.ready;
  if (!trace.loader.items.empty()) describe_function(trace, making);
  return making;
}

/// The number after `before` in a text; nullopt if there is none.
std::optional<std::int64_t> number_after(std::string_view text, std::string_view before) {
  const std::size_t found = text.find(before);
  if (found == std::string_view::npos) return std::nullopt;
  text.remove_prefix(found + before.size());
  const auto end = std::find_if(text.begin(), text.end(), [](char c) { return c < '0' || c > '9'; });
  return parse_integer(text.substr(0, static_cast<std::size_t>(end - text.begin())));
}

/// Of what Grain 0.2 says: "PrefetchDatasetIterator(read_options=ReadOptions(num_threads=16, prefetch_buffer_size=500),
/// allow_nones=False)", "InterleaveDatasetIterator([2 datasets], cycle_length=2)".
LoaderOptions options_of(const Trace& trace, bool are_of_processes) {
  LoaderOptions options;
  for (const StringId setting : trace.loader.settings) {
    const std::string_view text = trace.strings[setting];
    if (const auto threads = number_after(text, "ReadOptions(num_threads=")) {
      options.threads = threads;
      options.buffer = number_after(text, "prefetch_buffer_size=");
    }
    // Grain interleaves one dataset for each process.
    if (are_of_processes && !options.processes) options.processes = number_after(text, "InterleaveDatasetIterator([");
  }
  return options;
}

bool has_processes(const Trace& trace, const std::vector<LoaderStage>& stages) {
  return is_of_torch_workers(trace.strings[trace.next_frames.front().name]) ||
         std::any_of(stages.begin(), stages.end(),
                     [](const LoaderStage& stage) { return stage.name == kWorkerProcesses; });
}

MadeBy made_by(const Trace& trace, const BatchMaking& making) {
  if (has_processes(trace, making.stages)) return MadeBy::processes;
  if (!trace.loader.makers.empty()) return MadeBy::threads;
  if (making.stages.empty()) return making.options.threads == 0 ? MadeBy::loop : MadeBy::unknown;
  // A buffer that nothing is made for in the whole window: what fills it rests.
  return making.stages.back().hands_over ? MadeBy::threads : MadeBy::loop;
}

/// The elements that next() takes out of the buffer for each batch.
double elements_per_batch(const Trace& trace, const std::vector<LoaderStage>& stages) {
  const auto waiting =
      std::find_if(stages.begin(), stages.end(), [](const LoaderStage& stage) { return stage.hands_over; });
  if (waiting == stages.end() || trace.next_frames.empty()) return 1;
  return std::max(1.0, static_cast<double>(waiting->calls) / static_cast<double>(trace.next_frames.size()));
}

void describe_makers(const Trace& trace, BatchMaking& making) {
  std::set<LaneId> threads;
  std::vector<Picoseconds> lengths;
  for (const PythonFrame& maker : trace.loader.makers) {
    threads.insert(maker.lane);
    lengths.push_back(maker.span.end - maker.span.start);
    making.ready.push_back(maker.span.end);
  }
  std::sort(making.ready.begin(), making.ready.end());
  making.workers = threads.size();
  const auto typical = static_cast<double>(median(std::move(lengths)));
  making.typical = static_cast<Picoseconds>(typical * making.elements_per_batch);
}

BatchMaking making_of_stages(const Trace& trace) {
  BatchMaking making;
  making.stages = loader_stages(trace);
  making.slowest = slowest_stage(making.stages);
  making.options = options_of(trace, has_processes(trace, making.stages));
  making.made_by = made_by(trace, making);
  making.has_queue = making.made_by == MadeBy::threads;
  making.elements_per_batch = elements_per_batch(trace, making.stages);
  making.is_data_loader = std::any_of(trace.loader.nodes.begin(), trace.loader.nodes.end(), [&](const FrameNode& node) {
    return frame_name(trace.strings[node.name]).file == "data_loader.py";
  });
  if (making.has_queue) describe_makers(trace, making);
  if (const LoaderStage* const stage = making.slowest_stage()) making.function = stage->function;
  return making;
}

}  // namespace

std::uint64_t BatchMaking::made_in(Interval span) const {
  const auto first = std::lower_bound(ready.begin(), ready.end(), span.start);
  const auto last = std::upper_bound(first, ready.end(), span.end);
  const auto count = static_cast<double>(last - first);
  return static_cast<std::uint64_t>(count / elements_per_batch);
}

std::optional<BatchMaking> measure_batch_making(const Trace& trace) {
  const std::string_view loader =
      trace.next_frames.empty() ? std::string_view{} : loader_of_frame(trace.strings[trace.next_frames.front().name]);
  if (loader == kGrain || loader == kTorchLoader) {
    BatchMaking making = making_of_stages(trace);
    return making.made_by == MadeBy::unknown ? std::nullopt : std::optional(std::move(making));
  }
  const std::vector<PythonFrame>& makers = trace.loader.makers;
  const bool has_queue = loader == kKerasQueue || std::any_of(makers.begin(), makers.end(), [&](const auto& maker) {
                           return is_of_keras_queue(trace.strings[maker.name]);
                         });
  return has_queue || loader == kKerasDataset ? std::optional(making_of_keras(trace, has_queue)) : std::nullopt;
}

Picoseconds time_in_makers(const Trace& trace, const BatchMaking& making, Interval span) {
  std::vector<Interval> made;
  for (const PythonFrame& maker : trace.loader.makers) {
    const Interval part = {std::max(maker.span.start, span.start), std::min(maker.span.end, span.end)};
    if (part.start < part.end) made.push_back(part);
  }
  Picoseconds time = 0;
  Picoseconds blocked = 0;
  for (const LoaderStage& stage : making.stages) {
    if (stage.in_makers <= 0) continue;
    time += stage.in_makers;
    blocked += std::min(stage.blocked, stage.in_makers);
  }
  const double working = time > 0 ? 1 - static_cast<double>(blocked) / static_cast<double>(time) : 1;
  return static_cast<Picoseconds>(working * static_cast<double>(total_length(merged(std::move(made)))));
}

}  // namespace doctor
