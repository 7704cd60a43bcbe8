#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "trace/trace_builder.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "base/merge.h"
#include "base/parallel.h"
#include "base/search.h"

namespace doctor {
namespace {

/// Returns freed memory from the allocator to the system, after many small pieces that lay between others and before
/// larger ones are asked for.
void give_back_free_memory() {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

/// A Produce event of one of the threads.
struct ProduceRef {
  std::uint32_t thread = 0;  ///< index into the ElementEvents
  std::uint32_t event = 0;
};

/// An element has the id of the one before, too.
void count_before(const ProducedElement& before, ProducedElement& element) {
  element.back = std::min<std::uint32_t>(before.back + 1, ProducedElement::kMostBack) & ProducedElement::kMostBack;
}

class RecentElements;

/// Brings the elements of all threads into their order, and looks up those that are taken.
class ElementLinker {
 public:
  ElementLinker(std::vector<ElementEvents>& events, Trace& trace, const WorkOptions& work)
      : events_(events), trace_(trace), work_(work) {}

  void link();

 private:
  class Run;

  std::uint64_t id_of(ProduceRef ref) const { return events_[ref.thread].produced[ref.event].element_id.value(); }
  // Until all are linked, an element of Trace::produced has the place of its event and, in `last_run`, half of its id.
  static ProduceRef ref_of(const ProducedElement& element) {
    return {static_cast<std::uint32_t>(index_of(LaneId{element.lane})), element.row};
  }
  static void set(ProducedElement& element, ProduceRef ref, std::uint64_t id) {
    element.lane = static_cast<LaneId>(ref.thread);
    element.row = ref.event;
    element.last_run = static_cast<std::uint32_t>(id);
  }
  bool comes_before(ProduceRef a, ProduceRef b) const;
  std::vector<Run> runs_in_order(std::size_t most) const;
  void merge(std::vector<Run> runs);
  void sort_all();
  std::uint32_t find(std::uint64_t id, RecentElements& recent) const;
  void take_consumed(ElementEvents& thread);
  void fill_produced();

  std::vector<ElementEvents>& events_;
  Trace& trace_;
  const WorkOptions& work_;
};

/// Stands on one of a thread's events, in a part of them that is in order.
class ElementLinker::Run {
 public:
  Run(const ElementLinker& linker, std::uint32_t thread, std::uint32_t first, std::uint32_t end)
      : linker_(&linker), ref_{thread, first}, end_(end) {
    if (!done()) id_ = linker.id_of(ref_);
  }

  bool done() const { return ref_.event >= end_; }
  void next() {
    ++ref_.event;
    if (!done()) id_ = linker_->id_of(ref_);
  }
  ProduceRef ref() const { return ref_; }
  std::uint64_t id() const { return id_; }
  bool operator<(const Run& other) const {
    return id_ != other.id_ ? id_ < other.id_ : linker_->comes_before(ref_, other.ref_);
  }

 private:
  const ElementLinker* linker_;
  ProduceRef ref_;
  std::uint32_t end_;
  std::uint64_t id_ = 0;
};

/// The order of Trace::produced.
bool ElementLinker::comes_before(ProduceRef a, ProduceRef b) const {
  const std::uint64_t a_id = id_of(a);
  const std::uint64_t b_id = id_of(b);
  if (a_id != b_id) return a_id < b_id;
  const auto key = [&](ProduceRef ref) {
    const LaneId lane = events_[ref.thread].lane;
    const std::uint32_t row = events_[ref.thread].produced[ref.event].row;
    const Picoseconds start = row == kNoRow ? 0 : trace_.lanes[lane].iterator_calls[row].span.start();
    return std::make_tuple(start, lane, ref.event);
  };
  return key(a) < key(b);
}

/// The parts of threads' events that are in order, nearly always one of each: ids are times in nanoseconds. Stops when
/// there are more than `most`.
std::vector<ElementLinker::Run> ElementLinker::runs_in_order(std::size_t most) const {
  std::vector<Run> runs;
  for (std::uint32_t thread = 0; thread < events_.size(); ++thread) {
    const auto events = static_cast<std::uint32_t>(events_[thread].produced.size());
    for (std::uint32_t first = 0; first < events && runs.size() <= most;) {
      std::uint32_t end = first + 1;
      std::uint64_t before = id_of({thread, first});
      for (; end < events; ++end) {
        const std::uint64_t id = id_of({thread, end});
        if (id <= before && !comes_before({thread, end - 1}, {thread, end})) break;
        before = id;
      }
      runs.emplace_back(*this, thread, first, end);
      first = end;
    }
  }
  return runs;
}

void ElementLinker::merge(std::vector<Run> runs) {
  ProducedElement* next = trace_.produced.data();
  const ProducedElement* before = nullptr;
  std::uint64_t id_before = 0;
  visit_merged(std::move(runs), [&](const Run& run) {
    set(*next, run.ref(), run.id());
    if (before != nullptr && run.id() == id_before) count_before(*before, *next);
    id_before = run.id();
    before = next++;
  });
}

/// Where ids are in no order at all, sorting takes less time and memory than merging.
void ElementLinker::sort_all() {
  std::size_t next = 0;
  for (std::uint32_t thread = 0; thread < events_.size(); ++thread) {
    for (std::uint32_t event = 0; event < events_[thread].produced.size(); ++event) {
      set(trace_.produced[next++], {thread, event}, id_of({thread, event}));
    }
  }
  std::sort(trace_.produced.begin(), trace_.produced.end(),
            [&](const ProducedElement& a, const ProducedElement& b) { return comes_before(ref_of(a), ref_of(b)); });
  for (std::size_t index = 1; index < trace_.produced.size(); ++index) {
    const ProducedElement& before = trace_.produced[index - 1];
    ProducedElement& element = trace_.produced[index];
    if (id_of(ref_of(element)) == id_of(ref_of(before))) count_before(before, element);
  }
}

/// Where elements were found. A thread takes those of one transformation after those of another, whose ids may be far
/// from these, and goes on with the first.
class RecentElements {
 public:
  /// The place of the nearest id.
  std::size_t near(std::uint64_t id) {
    for (std::size_t index = 0; index < places_.size(); ++index) {
      if (distance(places_[index].id, id) < distance(places_[nearest_].id, id)) nearest_ = index;
    }
    return places_[nearest_].place;
  }
  /// What was asked for is near that indeed, or not.
  void found(std::uint64_t id, std::size_t place, bool is_near) {
    places_[is_near ? nearest_ : next_++ % places_.size()] = {id, place};
  }

 private:
  struct Place {
    std::uint64_t id = 0;
    std::size_t place = 0;
  };
  static std::uint64_t distance(std::uint64_t a, std::uint64_t b) { return a < b ? b - a : a - b; }

  std::array<Place, 4> places_;
  std::size_t nearest_ = 0;
  std::size_t next_ = 0;
};

/// The first element with that id; kNoRow if there is none. Near the one before half of an id says enough: whole ones
/// are three waits for memory each.
std::uint32_t ElementLinker::find(std::uint64_t id, RecentElements& recent) const {
  const std::vector<ProducedElement>& all = trace_.produced;
  const auto half = static_cast<std::uint32_t>(id);
  const std::size_t near = recent.near(id);
  const auto is_it = [&](std::size_t place) {
    return place < all.size() && all[place].back == 0 && id_of(ref_of(all[place])) == id;
  };
  std::size_t found = partition_point_near(
      all.size(), near, [&](std::size_t place) { return static_cast<std::int32_t>(all[place].last_run - half) < 0; });
  const bool is_near = is_it(found);
  if (!is_near) {
    found = partition_point_near(all.size(), near, [&](std::size_t place) { return id_of(ref_of(all[place])) < id; });
    if (!is_it(found)) return kNoRow;
  }
  recent.found(id, found, is_near);
  return static_cast<std::uint32_t>(found);
}

/// An iterator call may take an element after a nested call returned, so the rows are not in order by themselves.
void ElementLinker::take_consumed(ElementEvents& thread) {
  ChunkedVector<ConsumedElement>& consumed = trace_.lanes[thread.lane].consumed;
  RecentElements recent;
  for (std::size_t index = 0; index < thread.consumed.size(); ++index) {
    const ConsumeEvent& event = thread.consumed[index];
    consumed.push_back({find(event.element_id.value(), recent), event.row});
  }
  thread.consumed.clear();
  stable_sort_unless_sorted(consumed, [](const ConsumedElement& a, const ConsumedElement& b) { return a.row < b.row; });
}

/// From here on elements have what their events say.
void ElementLinker::fill_produced() {
  for (ProducedElement& element : trace_.produced) {
    const ElementEvents& thread = events_[ref_of(element).thread];
    const ProduceEvent& event = thread.produced[element.row];
    element.lane = thread.lane;
    element.row = event.row;
    element.last_run = event.last_run;
  }
  for (ElementEvents& thread : events_) thread.produced.clear();
  constexpr std::size_t kMany = std::size_t{1} << 16;  // a megabyte of events
  if (trace_.produced.size() >= kMany) give_back_free_memory();
}

void ElementLinker::link() {
  std::size_t count = 0;
  std::size_t taken = 0;
  for (const ElementEvents& thread : events_) {
    count += thread.produced.size();
    taken += thread.consumed.size();
  }
  const std::size_t most_runs = events_.size() + count / 64;
  trace_.produced.resize(count);
  std::vector<Run> runs = runs_in_order(most_runs);
  if (runs.size() > most_runs) {
    sort_all();
  } else if (!runs.empty()) {
    merge(std::move(runs));
  }
  while (trace_.unnamed_elements < count && id_of(ref_of(trace_.produced[trace_.unnamed_elements])) == 0) {
    ++trace_.unnamed_elements;
  }
  const std::vector<std::size_t> threads =
      largest_first(events_.size(), [&](std::size_t thread) { return events_[thread].consumed.size(); });
  run_parallel(threads_for(work_, taken), threads.size(),
               [&](std::size_t task) { take_consumed(events_[threads[task]]); });
  fill_produced();
}

}  // namespace

void link_elements(std::vector<ElementEvents> events, Trace& trace, const WorkOptions& work) {
  ElementLinker(events, trace, work).link();
}

}  // namespace doctor
