#include <compare>

#include "trace/trace_builder.h"

namespace doctor {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

/// Longest chain of parents that is followed: a trace may hold a cycle of parent ids.
constexpr std::size_t kLongestChain = 256;

/// A call of an outermost iterator.
struct OutermostCall {
  Interval span;
  InstanceId instance{};
  InstanceId input = kNoInstance;  ///< the first iterator that it calls
  LaneId lane{};
  std::uint32_t row = kNoRow;        ///< kNoRow: only the time of the instance's first call is known
  std::uint32_t previous = kNone;    ///< index of the call before of the same instance
  std::uint32_t making = kNoMaking;  ///< that made the pipeline of this call
  bool begins_life = false;
};

/// From `since` on, an instance or an id is this.
struct Since {
  Picoseconds since = 0;
  std::uint32_t what = 0;

  friend auto operator<=>(const Since&, const Since&) = default;
};

/// What `sinces` (sorted, not empty) says of a moment; narrows `valid` to the time for which that holds.
std::uint32_t at(const std::vector<Since>& sinces, Picoseconds moment, Interval& valid) {
  auto next = std::upper_bound(sinces.begin(), sinces.end(), Since{moment, kNone});
  if (next == sinces.begin()) ++next;  // before the first: that one
  if (next != sinces.end()) valid.end = std::min(valid.end, next->since);
  const auto current = next - 1;
  if (current != sinces.begin()) valid.start = std::max(valid.start, current->since);
  return current->what;
}

class LifeTeller {
 public:
  explicit LifeTeller(Trace& trace) : trace_(trace) {}

  void tell();

 private:
  bool is_outermost(InstanceId id) const { return !trace_.instances[id].parent_id; }
  bool has_one_input(InstanceId id) const;
  bool may_live_again() const;
  void collect_outermost_calls();
  void collect_first_calls();
  void find_first_lives();
  void find_lives_of_spare_makings();
  void number_lives();
  void find_ambiguous();
  void collect_runs_of_ids();
  std::uint32_t life_of(InstanceId id, Picoseconds moment, Interval& valid) const;
  InstanceId instance_in(InstanceId id, std::uint32_t life);
  /// Beyond kMostCallInstances the lives of an iterator are not told apart: no job makes its pipeline so often.
  bool has_room() const { return trace_.instances.size() < kMostCallInstances; }
  void split_instances();
  void count_call(InstanceId id, const IteratorCall& call);
  void split_attribute_tracks();

  Trace& trace_;
  std::vector<OutermostCall> calls_;          ///< sorted by start
  std::vector<std::uint32_t> spare_makings_;  ///< that no first call claimed
  std::vector<std::vector<Since>> lives_;  ///< indexed by InstanceId: of outermost instances, numbered over the trace
  std::uint32_t life_count_ = 0;
  std::unordered_map<std::uint64_t, std::vector<InstanceId>> instances_of_id_;
  std::unordered_map<std::uint64_t, std::vector<Since>> runs_of_id_;  ///< which instance has an id that several have
  std::vector<char> is_ambiguous_;                                    ///< indexed by InstanceId: may have several lives
  std::vector<char> is_kept_;  ///< indexed by InstanceId: whether a life has the instance as it was read
  std::unordered_map<std::uint64_t, InstanceId> instance_of_life_;  ///< by instance as read and life
  std::uint64_t calls_left_out_ = 0;                                ///< of lives beyond kMostCallInstances

  /// An instance as read that goes on as another from `since` on; only where tracks of attributes need it.
  struct Change {
    Picoseconds since;
    InstanceId now;
  };
  std::unordered_map<std::uint64_t, std::vector<Change>> changes_;  ///< by lane and instance as read
};

/// The runtime's own outermost iterators have one input for as long as they live.
bool LifeTeller::has_one_input(InstanceId id) const {
  const std::string_view name = trace_.strings[trace_.instances[id].long_name];
  return name.ends_with("::Root") || name.ends_with("::Model");
}

/// Whether an outermost instance may be several objects: a pipeline is made while it is there, or several
/// instances say that it calls them.
bool LifeTeller::may_live_again() const {
  std::unordered_map<std::uint64_t, std::uint32_t> inputs;
  for (const IteratorInstance& instance : trace_.instances) {
    if (instance.parent_id) ++inputs[*instance.parent_id];
  }
  for (std::size_t index = 0; index < trace_.instances.size(); ++index) {
    const IteratorInstance& instance = trace_.instances[index];
    if (instance.parent_id || !instance.id) continue;
    const auto made = std::ranges::upper_bound(trace_.makings, instance.first_start, {},
                                               [](const PipelineMaking& making) { return making.span.start; });
    if (made != trace_.makings.end() && made->span.start < instance.last_start) return true;
    const auto found = inputs.find(*instance.id);
    if (found != inputs.end() && found->second > 1 && has_one_input(static_cast<InstanceId>(index))) return true;
  }
  return false;
}

void LifeTeller::collect_outermost_calls() {
  for (std::size_t lane = 0; lane < trace_.lanes.size(); ++lane) {
    const IteratorCalls& rows = trace_.lanes[lane].iterator_calls;
    for (std::uint32_t row = 0; row < rows.size(); ++row) {
      const IteratorCall& call = rows[row];
      if (!is_outermost(call.instance) || !trace_.instances[call.instance].id) continue;
      OutermostCall& seen = calls_.emplace_back();
      seen.span = {call.span.start(), call.span.end()};
      seen.instance = call.instance;
      seen.lane = static_cast<LaneId>(lane);
      seen.row = row;
      if (row + 1 < rows.subtree_end(row, call) && has_one_input(call.instance)) seen.input = rows[row + 1].instance;
    }
  }
}

void LifeTeller::collect_first_calls() {
  for (std::size_t index = 0; index < trace_.instances.size(); ++index) {
    const IteratorInstance& instance = trace_.instances[index];
    if (instance.parent_id || !instance.id) continue;
    OutermostCall& seen = calls_.emplace_back();
    seen.span = {instance.first_start, instance.first_start};
    seen.instance = static_cast<InstanceId>(index);
  }
}

/// A call that is surely the first of a life claims the latest making before it.
void LifeTeller::find_first_lives() {
  struct State {
    std::uint32_t last_call = kNone;
    InstanceId input = kNoInstance;
  };
  std::vector<State> states(trace_.instances.size());
  std::size_t next_making = 0;
  for (std::uint32_t index = 0; index < calls_.size(); ++index) {
    OutermostCall& call = calls_[index];
    for (; next_making < trace_.makings.size() && trace_.makings[next_making].span.start <= call.span.start;
         ++next_making) {
      spare_makings_.push_back(static_cast<std::uint32_t>(next_making));
    }
    State& state = states[index_of(call.instance)];
    const bool has_other_input = call.input != kNoInstance && state.input != kNoInstance && call.input != state.input;
    call.begins_life = state.last_call == kNone || has_other_input;
    if (call.begins_life && !spare_makings_.empty()) {
      call.making = spare_makings_.back();
      spare_makings_.pop_back();
    } else if (!call.begins_life) {
      call.making = calls_[state.last_call].making;
    }
    call.previous = state.last_call;
    state.last_call = index;
    if (call.input != kNoInstance) state.input = call.input;
  }
}

/// A making that no new iterator needs made one whose ids are all those of one that is gone: what is called next, if it
/// was made of the same transformations.
void LifeTeller::find_lives_of_spare_makings() {
  std::uint32_t index = 0;
  for (const std::uint32_t making : spare_makings_) {
    const PipelineMaking& made = trace_.makings[making];
    const Picoseconds until = making + 1 < trace_.makings.size() ? trace_.makings[making + 1].span.start
                                                                 : std::numeric_limits<Picoseconds>::max();
    while (index < calls_.size() && calls_[index].span.start < made.span.end) ++index;
    for (; index < calls_.size() && calls_[index].span.start < until; ++index) {
      OutermostCall& call = calls_[index];
      if (call.begins_life || call.previous == kNone) continue;
      const OutermostCall& previous = calls_[call.previous];
      const bool is_alike = previous.making == kNoMaking || trace_.makings[previous.making].structure == made.structure;
      if (!is_alike || previous.span.end > made.span.start) continue;
      call.begins_life = true;
      call.making = making;
      break;
    }
  }
}

/// The first life of an instance keeps it; for a later one it is copied.
void LifeTeller::number_lives() {
  lives_.resize(trace_.instances.size());
  for (const OutermostCall& call : calls_) {
    if (!call.begins_life) continue;
    const bool is_made = call.making != kNoMaking;
    std::vector<Since>& lives = lives_[index_of(call.instance)];
    lives.push_back({is_made ? trace_.makings[call.making].span.start : call.span.start, life_count_});
    InstanceId now = call.instance;
    if (lives.size() > 1) {
      now = has_room() ? static_cast<InstanceId>(trace_.instances.size()) : kNoInstance;
      if (has_room()) trace_.instances.push_back(trace_.instances[call.instance]);
    }
    if (now != kNoInstance) trace_.instances[now].making = call.making;
    instance_of_life_[std::uint64_t{index_of(call.instance)} << 32 | life_count_++] = now;
  }
  for (std::vector<Since>& lives : lives_) std::sort(lives.begin(), lives.end());
}

/// Instances whose parents lead to several lives of outermost ones.
void LifeTeller::find_ambiguous() {
  const std::size_t count = lives_.size();
  for (std::size_t index = 0; index < count; ++index) {
    if (trace_.instances[index].id)
      instances_of_id_[*trace_.instances[index].id].push_back(static_cast<InstanceId>(index));
  }
  enum : char { no, yes, unknown };
  is_ambiguous_.assign(count, unknown);
  std::vector<std::size_t> chain;
  for (std::size_t index = 0; index < count; ++index) {
    chain.clear();
    char answer = unknown;
    for (std::size_t above = index; answer == unknown;) {
      answer = is_ambiguous_[above];
      if (answer != unknown) break;
      chain.push_back(above);
      const IteratorInstance& instance = trace_.instances[above];
      const auto parents = instance.parent_id ? instances_of_id_.find(*instance.parent_id) : instances_of_id_.end();
      if (!instance.parent_id) {
        answer = lives_[above].size() > 1 ? yes : no;
      } else if (parents == instances_of_id_.end() || chain.size() > kLongestChain) {
        answer = no;
      } else if (parents->second.size() > 1) {
        answer = yes;
      } else {
        above = index_of(parents->second.front());
      }
    }
    for (const std::size_t member : chain) is_ambiguous_[member] = answer;
  }
}

/// Ids that several instances have: which of them had it when.
void LifeTeller::collect_runs_of_ids() {
  std::vector<char> has_shared_id(lives_.size(), false);
  bool is_any_shared = false;
  for (const auto& [id, instances] : instances_of_id_) {
    if (instances.size() < 2) continue;
    for (const InstanceId instance : instances) has_shared_id[index_of(instance)] = true;
    is_any_shared = true;
  }
  if (!is_any_shared) return;
  for (const Lane& lane : trace_.lanes) {
    for (std::uint32_t row = 0; row < lane.iterator_calls.size(); ++row) {
      const IteratorCall& call = lane.iterator_calls[row];
      if (!has_shared_id[index_of(call.instance)]) continue;
      std::vector<Since>& runs = runs_of_id_[*trace_.instances[call.instance].id];
      runs.push_back({call.span.start(), static_cast<std::uint32_t>(index_of(call.instance))});
    }
  }
  for (auto& [id, runs] : runs_of_id_) {
    std::sort(runs.begin(), runs.end());
    const auto is_same = [](const Since& a, const Since& b) { return a.what == b.what; };
    runs.erase(std::unique(runs.begin(), runs.end(), is_same), runs.end());
  }
}

/// The life of the outermost iterator above at a moment, and while that holds; kNone if that iterator was not seen.
std::uint32_t LifeTeller::life_of(InstanceId id, Picoseconds moment, Interval& valid) const {
  for (std::size_t steps = 0; steps < kLongestChain; ++steps) {
    const IteratorInstance& instance = trace_.instances[id];
    if (!instance.parent_id) {
      const std::vector<Since>& lives = lives_[index_of(id)];
      return lives.empty() ? kNone : at(lives, moment, valid);
    }
    const auto parents = instances_of_id_.find(*instance.parent_id);
    if (parents == instances_of_id_.end()) return kNone;
    id = parents->second.front();
    const auto runs = runs_of_id_.find(*instance.parent_id);
    if (runs != runs_of_id_.end()) id = static_cast<InstanceId>(at(runs->second, moment, valid));
  }
  return kNone;
}

/// kNoInstance: there is no room for one.
InstanceId LifeTeller::instance_in(InstanceId id, std::uint32_t life) {
  const auto [place, is_new] = instance_of_life_.try_emplace(std::uint64_t{index_of(id)} << 32 | life, id);
  if (!is_new || is_outermost(id)) return place->second;
  // The life that is met first keeps the instance; for others it is copied.
  if (std::exchange(is_kept_[index_of(id)], true) == 0) return id;
  if (!has_room()) return place->second = kNoInstance;
  place->second = static_cast<InstanceId>(trace_.instances.size());
  trace_.instances.push_back(trace_.instances[id]);
  trace_.instances.back().event_count = 0;
  return place->second;
}

void LifeTeller::count_call(InstanceId id, const IteratorCall& call) {
  IteratorInstance& instance = trace_.instances[id];
  const Picoseconds start = call.span.start();
  instance.first_start = instance.event_count == 0 ? start : std::min(instance.first_start, start);
  instance.last_start = instance.event_count == 0 ? start : std::max(instance.last_start, start);
  ++instance.event_count;
}

void LifeTeller::split_instances() {
  is_kept_.assign(lives_.size(), false);
  for (std::size_t index = 0; index < trace_.instances.size(); ++index) {
    if (index >= lives_.size() || is_ambiguous_[index]) trace_.instances[index].event_count = 0;
  }
  struct Known {
    Interval valid{0, 0};
    InstanceId now{};
  };
  std::vector<Known> known(lives_.size());  // of the lane's latest call of each
  for (std::size_t lane = 0; lane < trace_.lanes.size(); ++lane) {
    IteratorCalls& rows = trace_.lanes[lane].iterator_calls;
    for (std::uint32_t row = 0; row < rows.size(); ++row) {
      const IteratorCall& call = rows[row];
      const InstanceId read = call.instance;
      if (!is_ambiguous_[index_of(read)]) continue;
      const Picoseconds start = call.span.start();
      Known& latest = known[index_of(read)];
      if (start < latest.valid.start || start >= latest.valid.end) {
        latest.valid = {std::numeric_limits<Picoseconds>::min(), std::numeric_limits<Picoseconds>::max()};
        latest.now = instance_in(read, life_of(read, start, latest.valid));
      }
      const bool is_left_out = latest.now == kNoInstance;
      const InstanceId now = is_left_out ? read : latest.now;
      calls_left_out_ += is_left_out ? 1 : 0;
      rows.set_instance(row, now);
      count_call(now, call);
      if (trace_.attribute_tracks.empty()) continue;
      std::vector<Change>& changes = changes_[std::uint64_t{lane} << 32 | index_of(read)];
      if (changes.empty() || changes.back().now != now) changes.push_back({start, now});
    }
  }
}

/// The values that a later life carries at its beginning are no change, so they were not noted.
void LifeTeller::split_attribute_tracks() {
  std::vector<AttributeTrack> tracks;
  for (AttributeTrack& track : trace_.attribute_tracks) {
    const auto changes = changes_.find(std::uint64_t{index_of(track.lane)} << 32 | index_of(track.instance));
    if (changes == changes_.end()) {
      tracks.push_back(std::move(track));
      continue;
    }
    std::size_t next = 0;
    for (std::size_t change = 0; change < changes->second.size(); ++change) {
      const auto [since, now] = changes->second[change];
      const Picoseconds until = change + 1 < changes->second.size() ? changes->second[change + 1].since
                                                                    : std::numeric_limits<Picoseconds>::max();
      AttributeTrack part{track.lane, now, track.name, {}};
      const bool has_value = next < track.runs.size() && track.runs[next].since <= since;
      if (next > 0 && !has_value) part.runs.push_back({since, track.runs[next - 1].value, track.runs[next - 1].kind});
      for (; next < track.runs.size() && track.runs[next].since < until; ++next) part.runs.push_back(track.runs[next]);
      if (!part.runs.empty()) tracks.push_back(std::move(part));
    }
  }
  trace_.attribute_tracks = std::move(tracks);
}

void LifeTeller::tell() {
  const bool lives_again = may_live_again();
  if (lives_again) {
    collect_outermost_calls();
  } else {
    collect_first_calls();
  }
  std::sort(calls_.begin(), calls_.end(), [](const OutermostCall& a, const OutermostCall& b) {
    return std::tie(a.span.start, a.lane, a.row, a.instance) < std::tie(b.span.start, b.lane, b.row, b.instance);
  });
  find_first_lives();
  if (lives_again) find_lives_of_spare_makings();
  number_lives();
  if (life_count_ < 2) return;
  find_ambiguous();
  if (std::find(is_ambiguous_.begin(), is_ambiguous_.end(), true) == is_ambiguous_.end()) return;
  collect_runs_of_ids();
  split_instances();
  if (!changes_.empty()) split_attribute_tracks();
  if (calls_left_out_ == 0) return;
  trace_.loss.add("calls_of_too_many_iterators", calls_left_out_);
  trace_.loss.notes.push_back("pipelines are made anew so often that the trace has more than " +
                              std::to_string(kMostCallInstances) +
                              " iterators: calls of others count as those of the iterator that had their id first");
}

}  // namespace

void tell_lives_apart(Trace& trace) {
  const bool has_ids = std::any_of(trace.instances.begin(), trace.instances.end(),
                                   [](const IteratorInstance& instance) { return instance.id.has_value(); });
  if (has_ids) LifeTeller(trace).tell();
}

}  // namespace doctor
