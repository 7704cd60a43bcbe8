#include <unordered_map>

#include "base/merge.h"
#include "measure/iterators/iterator_measurement.h"
#include "tree/dataset_kinds.h"

namespace doctor {
namespace {

constexpr std::string_view kUnavailable = "unavailable";

// The runtime's model node writes these two only where they are above zero (DatasetBaseIterator::BuildTraceMeName), so
// an event without them says zero.
constexpr std::string_view kBufferedElements = "buffered_elements";
constexpr std::string_view kBufferedBytes = "buffered_bytes_MB";

bool is_left_out_at_zero(std::string_view name) {
  return name == kBufferedElements || name == kBufferedBytes;
}

/// Adds up one attribute, whose readings come in order of time.
class HistoryBuilder {
 public:
  explicit HistoryBuilder(std::string_view name) { history_.name = name; }

  std::string_view name() const { return history_.name; }
  const AttributeReading& last() const { return history_.last; }
  /// The number in the latest event; nullopt where it has something else.
  std::optional<std::int64_t> now() const { return now_; }

  void add_number(Picoseconds time, std::int64_t number) {
    AttributeHistory& history = history_;
    history.min = history.number_count == 0 ? number : std::min(history.min, number);
    history.max = history.number_count == 0 ? number : std::max(history.max, number);
    ++history.number_count;
    sum_ += static_cast<double>(number);
    now_ = number;
    // Most numbers are as they were: no reading is made for them.
    if (history.event_count > 0 && history.last.number == number) {
      ++history.event_count;
    } else {
      add(time, {number, {}});
    }
  }

  void add_text(Picoseconds time, std::string_view text) {
    now_ = std::nullopt;
    if (text == kUnavailable) {
      ++history_.unavailable_count;
    } else {
      add(time, {std::nullopt, std::string(text)});
    }
  }

  void add_absence() { now_ = std::nullopt; }

  AttributeHistory finish() {
    if (history_.number_count > 0) history_.mean = sum_ / static_cast<double>(history_.number_count);
    return std::move(history_);
  }

 private:
  void add(Picoseconds time, AttributeReading reading) {
    const bool is_first = history_.event_count++ == 0;
    if (is_first) history_.first = reading;
    if (is_first || reading == history_.last) {
      history_.last = std::move(reading);
      return;
    }
    history_.last = reading;
    if (history_.change_count++ % stride_ == 0) history_.changes.push_back({time, std::move(reading)});
    if (history_.changes.size() <= AttributeHistory::kMostChanges) return;
    for (std::size_t kept = 1; 2 * kept < history_.changes.size(); ++kept) {
      history_.changes[kept] = std::move(history_.changes[2 * kept]);
    }
    history_.changes.resize((history_.changes.size() + 1) / 2);
    stride_ *= 2;
  }

  AttributeHistory history_;
  double sum_ = 0;
  std::optional<std::int64_t> now_;
  std::uint64_t stride_ = 1;  ///< of the changes, every stride_-th is kept
};

/// What is added up for one iterator.
struct IteratorBuilder {
  std::vector<HistoryBuilder> attributes;
  std::vector<std::size_t> left_out;  ///< of these, those that are not written at zero
  std::optional<std::size_t> fill;    ///< which of these says how full the buffer is
  std::optional<std::size_t> limit;   ///< and how full it may be
  BufferFill buffer;

  std::size_t find(std::string_view name) const {
    const auto found = std::find_if(attributes.begin(), attributes.end(),
                                    [&](const HistoryBuilder& other) { return other.name() == name; });
    return static_cast<std::size_t>(found - attributes.begin());
  }

  std::size_t find_or_add(std::string_view name) {
    const std::size_t index = find(name);
    if (index == attributes.size()) attributes.emplace_back(name);
    return index;
  }
};

/// Stands on the iterator calls of one lane, one after another.
class LaneCursor {
 public:
  LaneCursor(const Trace& trace, LaneId lane)
      : calls_(&trace.lanes[lane].iterator_calls), lane_(lane), start_(start_of(0)) {}

  bool done() const { return row_ >= calls_->size(); }
  void next() { start_ = start_of(++row_); }
  Picoseconds start() const { return start_; }
  LaneId lane() const { return lane_; }
  InstanceId instance() const { return (*calls_)[row_].instance; }

  friend bool operator<(const LaneCursor& a, const LaneCursor& b) {
    return a.start_ != b.start_ ? a.start_ < b.start_ : a.lane_ < b.lane_;
  }

 private:
  Picoseconds start_of(std::size_t row) const { return row < calls_->size() ? (*calls_)[row].span.start() : 0; }

  const IteratorCalls* calls_;
  LaneId lane_;
  std::size_t row_ = 0;
  Picoseconds start_;
};

class HistoryMeasurer {
 public:
  HistoryMeasurer(const Trace& trace, const IteratorForest& forest)
      : trace_(trace), forest_(forest), builders_(forest.iterators.size()) {}

  std::vector<IteratorHistory> measure();

 private:
  /// A track on its way through time.
  struct Follower {
    const AttributeTrack* track = nullptr;
    std::size_t attribute = 0;  ///< index into IteratorBuilder::attributes
    std::size_t next = 0;       ///< the runs before it have begun
  };

  static std::uint64_t key_of(LaneId lane, InstanceId instance) {
    return std::uint64_t{index_of(lane)} << 32 | index_of(instance);
  }

  void collect_tracks();
  void prepare(IteratorId id);
  void add_event(Picoseconds time, IteratorBuilder& builder, std::vector<Follower>* followers);
  static void add_fill(IteratorBuilder& builder);

  const Trace& trace_;
  const IteratorForest& forest_;
  std::vector<IteratorBuilder> builders_;                            ///< indexed by IteratorId
  std::unordered_map<std::uint64_t, std::vector<Follower>> tracks_;  ///< by lane and instance
};

void HistoryMeasurer::collect_tracks() {
  for (const AttributeTrack& track : trace_.attribute_tracks) {
    IteratorBuilder& builder = builders_[index_of(forest_.iterator_of_instance[index_of(track.instance)])];
    const std::size_t attribute = builder.find_or_add(trace_.strings[track.name]);
    tracks_[key_of(track.lane, track.instance)].push_back({&track, attribute, 0});
  }
}

/// Finds out where an iterator says how full its buffer is.
void HistoryMeasurer::prepare(IteratorId id) {
  IteratorBuilder& builder = builders_[index_of(id)];
  const DatasetKind& kind = forest_[id].kind();
  const bool is_prefetch = kind.has(Trait::prefetch);
  const auto has = [&](std::string_view name) { return builder.find(name) < builder.attributes.size(); };
  // A runtime new enough to write a Prefetch's depth writes buffer_size or leaves its elements to the model node: where
  // neither was ever seen the buffer was empty at every call.
  if (is_prefetch && has("interleave_depth") && !has("buffer_size")) builder.find_or_add(kBufferedElements);
  // Prefetch wrote its elements as buffer_size until the model node wrote them for all kinds; of other kinds
  // buffer_size is the limit.
  const std::string_view fill = is_prefetch && has("buffer_size") ? "buffer_size" : kBufferedElements;
  if (!kind.buffer_limit.empty() && has(fill) && has(kind.buffer_limit)) {
    builder.fill = builder.find(fill);
    builder.limit = builder.find(kind.buffer_limit);
  }
  for (std::size_t index = 0; index < builder.attributes.size(); ++index) {
    if (is_left_out_at_zero(builder.attributes[index].name())) builder.left_out.push_back(index);
  }
}

void HistoryMeasurer::add_event(Picoseconds time, IteratorBuilder& builder, std::vector<Follower>* followers) {
  for (HistoryBuilder& attribute : builder.attributes) attribute.add_absence();
  if (followers != nullptr) {
    for (Follower& follower : *followers) {
      const std::vector<AttributeRun>& runs = follower.track->runs;
      while (follower.next < runs.size() && runs[follower.next].since <= time) ++follower.next;
      if (follower.next == 0) continue;
      const AttributeRun& run = runs[follower.next - 1];
      HistoryBuilder& attribute = builder.attributes[follower.attribute];
      if (run.kind == AttributeKind::number) attribute.add_number(time, run.value);
      if (run.kind == AttributeKind::text) attribute.add_text(time, trace_.strings[static_cast<StringId>(run.value)]);
    }
  }
  for (const std::size_t index : builder.left_out) {
    if (!builder.attributes[index].now()) builder.attributes[index].add_number(time, 0);
  }
  add_fill(builder);
}

void HistoryMeasurer::add_fill(IteratorBuilder& builder) {
  if (!builder.fill || !builder.attributes[*builder.fill].now()) return;
  const std::int64_t elements = *builder.attributes[*builder.fill].now();
  const std::optional<std::int64_t>& limit = builder.attributes[*builder.limit].last().number;
  ++builder.buffer.calls;
  if (elements == 0) ++builder.buffer.empty_calls;
  if (elements > 0 && limit && elements >= *limit) ++builder.buffer.full_calls;
}

std::vector<IteratorHistory> HistoryMeasurer::measure() {
  if (trace_.attribute_tracks.empty()) return {};
  collect_tracks();
  for (std::size_t index = 0; index < builders_.size(); ++index) prepare(static_cast<IteratorId>(index));
  std::vector<LaneCursor> lanes;
  for (std::size_t lane = 0; lane < trace_.lanes.size(); ++lane) lanes.emplace_back(trace_, static_cast<LaneId>(lane));
  visit_merged(std::move(lanes), [&](const LaneCursor& call) {
    IteratorBuilder& builder = builders_[index_of(forest_.iterator_of_instance[index_of(call.instance())])];
    if (builder.attributes.empty()) return;
    const auto followers = tracks_.find(key_of(call.lane(), call.instance()));
    add_event(call.start(), builder, followers == tracks_.end() ? nullptr : &followers->second);
  });
  std::vector<IteratorHistory> histories;
  for (IteratorBuilder& builder : builders_) {
    IteratorHistory& history = histories.emplace_back();
    for (HistoryBuilder& attribute : builder.attributes) history.attributes.push_back(attribute.finish());
    if (builder.buffer.calls > 0) {
      const AttributeHistory& elements = history.attributes[*builder.fill];
      builder.buffer.min = elements.min;
      builder.buffer.max = elements.max;
      builder.buffer.mean = elements.mean;
      history.fill = builder.buffer;
    }
    std::sort(history.attributes.begin(), history.attributes.end(),
              [](const AttributeHistory& a, const AttributeHistory& b) { return a.name < b.name; });
  }
  return histories;
}

}  // namespace

std::vector<IteratorHistory> measure_histories(const Trace& trace, const IteratorForest& forest) {
  return HistoryMeasurer(trace, forest).measure();
}

}  // namespace doctor
