#include "measure/batch_making.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/ranks.h"
#include "trace/event_kind.h"

namespace doctor {
namespace {

/// A training and its validation may have a dataset each: the one that takes the most time.
StringId longest_place(const std::vector<ItemFrame>& items) {
  std::map<StringId, Picoseconds> times;
  for (const ItemFrame& item : items) times[item.place] += item.span.end - item.span.start;
  return std::max_element(times.begin(), times.end(), [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

void describe_function(const Trace& trace, BatchMaking& making) {
  const StringId place = longest_place(trace.workers.items);
  making.function = "__getitem__ at " + std::string(trace.strings[place]);
  std::set<LaneId> takers;
  for (const NextFrame& frame : trace.next_frames) takers.insert(frame.lane);
  std::set<LaneId> workers;
  std::vector<Picoseconds> lengths;
  for (const ItemFrame& item : trace.workers.items) {
    if (item.place != place) continue;
    lengths.push_back(item.span.end - item.span.start);
    if (!takers.contains(item.lane)) workers.insert(item.lane);
  }
  making.workers = workers.size();
  making.typical = median(std::move(lengths));
}

}  // namespace

std::uint64_t BatchMaking::made_in(Interval span) const {
  const auto first = std::lower_bound(ready.begin(), ready.end(), span.start);
  return static_cast<std::uint64_t>(std::upper_bound(first, ready.end(), span.end) - first);
}

std::optional<BatchMaking> measure_batch_making(const Trace& trace) {
  const std::string_view loader =
      trace.next_frames.empty() ? std::string_view{} : trace.strings[trace.next_frames.front().loader];
  BatchMaking making;
  making.has_queue = trace.workers.show_queue || loader == kKerasQueue;
  if (!making.has_queue && loader != kKerasDataset) return std::nullopt;
  making.ready = trace.workers.ready;
  if (!trace.workers.items.empty()) describe_function(trace, making);
  return making;
}

}  // namespace doctor
