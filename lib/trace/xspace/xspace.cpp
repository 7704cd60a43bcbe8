#include "base/ordered_work.h"
#include "trace/event_reader.h"
#include "trace/format.h"
#include "trace/trace_builder.h"
#include "trace/trace_sink.h"
#include "trace/wire.h"
#include "trace/xspace/xspace_names.h"
#include "trace/xspace/xspace_takers.h"
#include "trace/xspace/xspace_usual_event.h"
#include "trace/xspace/xspace_walk.h"
#include "trace/xspace/xspace_windows.h"
#include "trace/xspace/xspace_wire.h"

// XSpace (`*.xplane.pb`), the profiler's own format. Its schema is xspace.proto beside this file. The names of a
// plane's events follow the events in the file, so the file is walked twice: first over the names, skipping the lines,
// then over the lines, decoding only what the sink uses.

namespace doctor {
namespace {

using namespace xspace_field;

constexpr const char* kMalformed = "events_malformed";

/// Hands the events of pieces to a taker.
template <typename Taker>
class EventWalk {
 public:
  EventWalk(const MetadataReader& metadata, EventSink& sink)
      : metadata_(metadata), taker_(sink), is_done_(taker_.is_done()) {}

  void take(const EventPiece& piece);
  void finish() {
    if (line_ != nullptr) taker_.end_line(*line_);
  }
  /// Of what was taken since this was called last.
  EventTotals take_totals() { return std::exchange(totals_, {}); }

 private:
  void take_event(const PlaneMetadata& plane, Picoseconds line_start, const EventHead& head);
  bool may_have_mark(const PlaneMetadata& plane, std::string_view rest) const;
  bool read_times_and_arguments(const PlaneMetadata& plane, const NameUse& use, const EventHead& head,
                                EventTimes& times);
  void begin_arguments() {
    taker_.begin();
    groups_ = 0;
  }
  [[gnu::always_inline]] void take_argument(const PlaneMetadata& plane, const StatMetadata& name,
                                            const StatValue& value) {
    if constexpr (!Taker::kIsForTrace) groups_ |= name.groups;
    taker_.take(plane, name, value);
  }
  bool has_mark() const {
    if constexpr (Taker::kIsForTrace) return taker_.has_mark();
    return (groups_ & EventSink::kMarks) != 0;
  }
  bool add_usual_argument(const PlaneMetadata& plane, const UsualStat& stat, ArgumentGroups groups);
  bool add_any_argument(const PlaneMetadata& plane, std::string_view stat);
  void add_from_name(const PlaneMetadata& plane, const EventMetadata& metadata);
  void read_deferred();

  const MetadataReader& metadata_;
  Taker taker_;
  bool is_done_;
  EventTotals totals_;
  const EventLine* line_ = nullptr;
  // Of the event that is decoded.
  const char* readable_end_ = nullptr;  ///< of the bytes that hold the events of the line
  ArgumentGroups looked_at_ = kAllArguments;
  ArgumentGroups groups_ = 0;  ///< of its arguments
  bool is_reading_deferred_ = false;
};

template <typename Taker>
void EventWalk<Taker>::take(const EventPiece& piece) {
  const EventWindow& window = piece.window;
  totals_.loss.add(window.loss);
  for (std::size_t index = 0; index < window.parts.size(); ++index) {
    const LinePart& part = window.parts[index];
    if (line_ != piece.lines[index]) finish();
    line_ = piece.lines[index];
    const PlaneMetadata& plane = metadata_.planes[part.plane];
    const std::string_view bytes = window.bytes_of(part);
    const char* at = bytes.data();
    readable_end_ = at + bytes.size();
    const char* const end = at + bytes.size();
    std::uint64_t count = 0;
    const bool is_used = taker_.uses_line(*line_);
    for (EventHead head; !is_done_ && read_head(at, end, head); ++count) {
      if (is_used) take_event(plane, part.line_start, head);
    }
    totals_.timed_count += count;
  }
  if constexpr (Taker::kIsForTrace) read_deferred();
  const auto malformed = totals_.loss.counts.find(kMalformed);
  totals_.timed_count += window.other_events;
  totals_.event_count = totals_.timed_count + (malformed == totals_.loss.counts.end() ? 0 : malformed->second);
}

template <typename Taker>
[[gnu::always_inline]] inline void EventWalk<Taker>::take_event(const PlaneMetadata& plane, Picoseconds line_start,
                                                                const EventHead& head) {
  const NameUse* const found = plane.uses.find(head.metadata_id);
  const NameUse& use = found == nullptr ? plane.unnamed : *found;
  if (use.is_skipped || (!use.use.is_taken && !may_have_mark(plane, head.rest))) return;
  looked_at_ = use.use.arguments;
  EventTimes times;
  if (!read_times_and_arguments(plane, use, head, times)) {
    --totals_.timed_count;
    return totals_.loss.add(kMalformed);
  }
  if (!use.use.is_taken && !has_mark()) return;
  if constexpr (!Taker::kIsForTrace) {
    const EventMetadata* const metadata = plane.events.find(head.metadata_id);
    if (metadata != nullptr) add_from_name(plane, *metadata);
  }
  const Picoseconds start = times.offset + line_start;
  if (const char* const fault = time_fault(start, times.duration)) return totals_.loss.add(fault);
  taker_.end_event(*line_, plane, use, head, start, times.duration);
  if constexpr (!Taker::kIsForTrace) is_done_ = taker_.is_done();
}

/// By a look at the ids of its statistics, which is all that most events need where others are marked.
template <typename Taker>
[[gnu::always_inline]] inline bool EventWalk<Taker>::may_have_mark(const PlaneMetadata& plane,
                                                                   std::string_view rest) const {
  const char* const stats = skip_usual_times(rest, readable_end_);
  const ArgumentGroups* const groups = plane.usual_groups.data();
  return stats == nullptr ||
         !visit_usual_stats(stats, rest.data() + rest.size(), plane.usual_groups.size(),
                            [&](const UsualStat& stat) { return (groups[stat.id] & EventSink::kMarks) == 0; });
}

/// False: the event is damaged.
template <typename Taker>
[[gnu::always_inline]] inline bool EventWalk<Taker>::read_times_and_arguments(const PlaneMetadata& plane,
                                                                              const NameUse& use, const EventHead& head,
                                                                              EventTimes& times) {
  const std::string_view rest = head.rest;
  begin_arguments();
  const char* const stats = read_usual_times(rest, readable_end_, times);
  const ArgumentGroups* const groups = plane.usual_groups.data();
  const std::size_t id_end = plane.usual_groups.size();
  const ArgumentGroups looked_at = use.use.arguments;
  const bool takes_any = use.has_wanted_statistics;
  const bool defers = taker_.defers();
  const bool is_usual =
      stats != nullptr && visit_usual_stats(stats, rest.data() + rest.size(), id_end, [&](const UsualStat& stat) {
        const ArgumentGroups used = groups[stat.id] & looked_at;
        if (!takes_any || (used == 0 && (Taker::kIsForTrace || looked_at != kAllArguments))) return true;
        if (defers && used == TracePart::kAttribute) {
          taker_.defer(stat.id);
          return true;
        }
        return add_usual_argument(plane, stat, used);
      });
  if (is_usual) return true;
  begin_arguments();
  return read_event(WireMessage(head.bytes), times,
                    [&](std::string_view stat) { return add_any_argument(plane, stat); });
}

/// False: it is not usual, which is found of those that are not looked at, too, where all events are taken.
template <typename Taker>
[[gnu::always_inline]] inline bool EventWalk<Taker>::add_usual_argument(const PlaneMetadata& plane,
                                                                        const UsualStat& stat, ArgumentGroups groups) {
  constexpr char kTextTag = static_cast<char>(kText << 3 | static_cast<std::uint32_t>(WireType::bytes));
  const bool is_looked_at = Taker::kIsForTrace || groups != 0;
  const char tag = *stat.value;
  const char* const bytes = stat.value + 1;
  const bool is_number =
      tag == varint_tag(kUnsignedValue) || tag == varint_tag(kSignedValue) || tag == varint_tag(kReference);
  if (!is_looked_at && is_number && end_of_readable_varint(bytes) == stat.end) return true;
  const ParsedVarint number = parse_readable_varint(bytes);
  const bool is_text = tag == kTextTag;
  if (number.end == nullptr || (!is_text && !is_number)) return false;
  const auto bytes_after = static_cast<std::uint64_t>(stat.end - number.end);
  if (bytes_after != (is_text ? number.value : 0)) return false;
  if (!is_looked_at) return true;
  if constexpr (Taker::kIsForTrace) {
    if (!TracePart::is_attribute(groups) && (tag == varint_tag(kUnsignedValue) || tag == varint_tag(kSignedValue))) {
      if (groups != TracePart::kDatasetName) taker_.take_number(groups, number.value);
      return true;
    }
  }
  StatValue value;
  if (is_text) {
    value.text = {number.end, number.value};
  } else {
    value.number = number.value;
    value.is_reference = tag == varint_tag(kReference);
    if (tag == varint_tag(kSignedValue)) value.type = ArgumentType::integer;
    if (tag == varint_tag(kUnsignedValue)) value.type = ArgumentType::unsigned_integer;
  }
  take_argument(plane, *plane.stats.find(stat.id), value);
  return true;
}

/// The arguments that stand with the name of the event.
template <typename Taker>
void EventWalk<Taker>::add_from_name(const PlaneMetadata& plane, const EventMetadata& metadata) {
  for (const std::string& stat : metadata.stats) add_any_argument(plane, stat);
  if (metadata.plain_size == metadata.name.size()) return;
  std::string_view text = std::string_view(metadata.name).substr(metadata.plain_size + 1);
  text = text.substr(0, text.find('#'));
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), pair.size() + 1));
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos) continue;
    taker_.take_encoded(pair.substr(0, equals), pair.substr(equals + 1), looked_at_);
  }
}

/// With fields in any order, some of which may be missing. False: it is damaged. Attributes of a trace are read later,
/// or not at all, so they are never judged: an event counts the same whatever the pieces of its file.
template <typename Taker>
bool EventWalk<Taker>::add_any_argument(const PlaneMetadata& plane, std::string_view stat) {
  StatValue value;
  const StatMetadata* name = nullptr;
  bool has_name = false;
  bool has_value = false;
  bool is_attribute = false;
  WireMessage message(stat);
  for (WireField field; message.next(field);) {
    if (field.is(kMetadataId, WireType::varint)) {
      if (is_attribute) break;
      if (std::exchange(has_name, true)) return false;
      name = plane.stats.find(field.number);
      // What nobody looks at is not judged either.
      const bool is_looked_at = name != nullptr && (name->groups & looked_at_) != 0;
      if (!is_looked_at && looked_at_ != kAllArguments) return true;
      is_attribute = Taker::kIsForTrace && name != nullptr && TracePart::is_attribute(name->groups);
      if (is_attribute && name->groups == TracePart::kAttribute && taker_.defers() && !is_reading_deferred_) {
        taker_.defer(field.number);
        return true;
      }
      continue;
    }
    if (is_attribute && has_value) break;
    if (std::exchange(has_value, true)) return false;
    switch (field.type()) {
      case WireType::bytes:
        value.text = field.bytes();
        break;
      case WireType::fixed64:
        value.type = ArgumentType::real;
        value.number = field.number;
        break;
      case WireType::varint:
        value.number = field.number;
        value.is_reference = field.field() == kReference;
        if (value.is_reference) break;
        value.type = field.field() == kSignedValue ? ArgumentType::integer : ArgumentType::unsigned_integer;
        break;
      default:
        if (!is_attribute) return false;
        has_value = false;
    }
  }
  if (message.is_damaged() && !is_attribute) return false;
  if (name != nullptr && (name->groups & looked_at_) != 0 && has_value) take_argument(plane, *name, value);
  return true;
}

/// The attributes that were put off, at the end of a piece.
template <typename Taker>
void EventWalk<Taker>::read_deferred() {
  is_reading_deferred_ = true;
  looked_at_ = TracePart::kAttribute;
  for (const PartTaker::Deferred& deferred : taker_.deferred()) {
    taker_.begin();
    EventTimes times;
    read_event(WireMessage(deferred.event), times,
               [&](std::string_view stat) { return add_any_argument(*deferred.plane, stat); });
    taker_.keep_attributes(deferred);
  }
  is_reading_deferred_ = false;
}

/// A piece on its way, with the part of the sink that takes its events, if it has parts.
struct PieceWork {
  EventPiece piece;
  std::unique_ptr<EventSink> part;
  EventTotals totals;
};

/// The second walk. Pieces are taken by parts of the sink on several threads, or by the sink itself, in file order.
template <typename Taker, typename Take>
void read_pieces(const MetadataReader& metadata, const Take& take, EventSink& sink, PartedSink* parted,
                 const WorkOptions& work, EventTotals& totals) {
  const auto take_work = [&](PieceWork& item) {
    if (parted != nullptr && item.part == nullptr) item.part = parted->make_part();
    return take(item.piece);
  };
  const auto walk = [&](PieceWork& item) {
    if (item.part == nullptr) return;
    EventWalk<Taker> events(metadata, *item.part);
    events.take(item.piece);
    item.totals = events.take_totals();
  };
  std::optional<EventWalk<SinkTaker>> in_order;
  if (parted == nullptr) in_order.emplace(metadata, sink);
  OrderedWork<PieceWork, decltype(take_work), decltype(walk)> items(in_order ? 1 : work.threads, take_work, walk);
  while (PieceWork* const item = sink.is_done() ? nullptr : items.next()) {
    if (in_order) {
      in_order->take(item->piece);
      item->totals = in_order->take_totals();
    } else {
      parted->join(*item->part);
    }
    totals.add(item->totals, work);
  }
  if (in_order) in_order->finish();
}

PlaneUse use_of_plane(const EventPlane& plane, WantedPlanes wanted) {
  if (wanted == WantedPlanes::hosts) return plane.kind == PlaneKind::host ? PlaneUse::decode : PlaneUse::count;
  return wanted == WantedPlanes::all || plane.kind == PlaneKind::device ? PlaneUse::decode : PlaneUse::skip;
}

/// A short look at the events of the first GPU; the graphs of the others are the same.
Result<void> name_graph_nodes(ByteSource& source, MetadataReader& metadata, const WorkOptions& work) {
  const auto gpu = std::find_if(metadata.planes.begin(), metadata.planes.end(),
                                [](const PlaneMetadata& plane) { return plane.programs != nullptr; });
  if (gpu == metadata.planes.end()) return {};
  if (const Result<void> start = source.rewind(); !start) return start;
  std::vector<PlaneUse> uses(metadata.planes.size(), PlaneUse::skip);
  uses[static_cast<std::size_t>(gpu - metadata.planes.begin())] = PlaneUse::decode;
  XSpaceWindows windows(source, std::move(uses), metadata.header.origin_ns, work.window_size);
  PieceTaker pieces(metadata, windows, false);
  GraphNodes nodes(metadata.programs());
  EventWalk<SinkTaker> walk(metadata, nodes);
  for (EventPiece piece; !nodes.is_done() && pieces.take(piece);) walk.take(piece);
  metadata.programs().name_nodes();
  return {};
}

}  // namespace

Result<EventTotals> read_xspace(ByteSource& source, EventSink& sink, WantedPlanes planes, const WorkOptions& work) {
  if (const Result<void> start = source.rewind(); !start) return Unexpected(start.error());
  MetadataReader metadata(sink, planes);
  EventTotals totals;
  metadata.finish_header(walk_planes(source, work, metadata, totals.loss));
  if (planes == WantedPlanes::hosts) metadata.add_doubts(source, totals.loss);
  sink.begin(metadata.header);
  metadata.ask_sink();
  if (const Result<void> named = name_graph_nodes(source, metadata, work); !named) return Unexpected(named.error());
  if (const Result<void> again = source.rewind(); !again) return Unexpected(again.error());
  std::vector<PlaneUse> uses;
  for (const PlaneMetadata& plane : metadata.planes) uses.push_back(use_of_plane(plane.plane, planes));
  XSpaceWindows windows(source, std::move(uses), metadata.header.origin_ns, work.window_size);
  PieceTaker pieces(metadata, windows, planes == WantedPlanes::hosts);
  const auto take = [&](EventPiece& piece) {
    const bool is_taken = pieces.take(piece);
    if (is_taken && work.progress != nullptr) work.progress->bytes_read = source.stored_position();
    return is_taken;
  };
  if (planes == WantedPlanes::hosts) {
    read_pieces<PartTaker>(metadata, take, sink, &static_cast<TraceSink&>(sink), work, totals);
  } else {
    read_pieces<SinkTaker>(metadata, take, sink, parts_of(sink, work), work, totals);
  }
  sink.end(metadata.header);
  return totals;
}

}  // namespace doctor
