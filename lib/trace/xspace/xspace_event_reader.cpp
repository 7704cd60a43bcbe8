#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/ordered_work.h"
#include "trace/event_reader.h"
#include "trace/format.h"
#include "trace/trace_builder.h"
#include "trace/wire.h"
#include "trace/xspace/xspace_events.h"
#include "trace/xspace/xspace_names.h"
#include "trace/xspace/xspace_usual_event.h"
#include "trace/xspace/xspace_walk.h"
#include "trace/xspace/xspace_windows.h"
#include "trace/xspace/xspace_wire.h"

// Every event of an XSpace with all its statistics, in two walks like read_xspace(): names, then events.

namespace doctor {
namespace {

using namespace xspace_field;

/// The text of an argument is the name of a statistic.
inline void refer(const PlaneMetadata& plane, std::uint64_t id, EventArgument& argument) {
  const StatMetadata* const referred = plane.stats.find(id);
  argument.type = ArgumentType::text;
  argument.text = referred == nullptr ? std::string_view{} : referred->name;
  argument.text_number = referred == nullptr ? 0 : referred->number;
}

/// A piece of the file, and the line of each of its parts.
struct EventPiece {
  EventWindow window;
  std::vector<const EventLine*> lines;
};

/// Takes the pieces of a file in order and makes its lines, which live as long as this.
class PieceTaker {
 public:
  PieceTaker(const MetadataReader& metadata, XSpaceWindows& windows) : metadata_(metadata), windows_(windows) {}

  bool take(EventPiece& piece);

 private:
  const MetadataReader& metadata_;
  XSpaceWindows& windows_;
  std::deque<EventLine> lines_;
};

bool PieceTaker::take(EventPiece& piece) {
  piece.lines.clear();
  if (!windows_.take(piece.window)) return false;
  for (const LinePart& part : piece.window.parts) {
    if (part.line == lines_.size()) {
      EventLine& line = lines_.emplace_back();
      line.plane = &metadata_.planes[part.plane].plane;
      line.name = part.line_name;
      line.kind = kind_of_line(*line.plane, line.name);
      line.id = part.line_id;
      line.index = part.line;
    }
    piece.lines.push_back(&lines_.back());
  }
  return true;
}

/// Hands the events of pieces to a sink.
class EventWalk {
 public:
  EventWalk(const MetadataReader& metadata, EventSink& sink)
      : metadata_(metadata), sink_(sink), is_done_(sink.is_done()) {}

  void take(const EventPiece& piece);
  void finish() {
    if (line_ != nullptr) sink_.end_line(*line_);
  }
  /// Of what was taken since this was called last.
  EventTotals take_totals() { return std::exchange(totals_, {}); }

 private:
  void take_event(const PlaneMetadata& plane, Picoseconds line_start, const EventHead& head);
  bool may_have_mark(const PlaneMetadata& plane, std::string_view rest) const;
  bool read_times_and_arguments(const PlaneMetadata& plane, const EventMetadata& metadata, const EventHead& head,
                                EventTimes& times);
  bool add_usual_argument(const PlaneMetadata& plane, const UsualStat& stat);
  bool add_any_argument(const PlaneMetadata& plane, std::string_view stat);
  void add_from_name(const PlaneMetadata& plane, const EventMetadata& metadata);
  void add_encoded_arguments(std::string_view text);

  const MetadataReader& metadata_;
  const EventMetadata unnamed_;  ///< of events whose id no name has
  EventSink& sink_;
  bool is_done_ = false;
  EventTotals totals_;
  const EventLine* line_ = nullptr;
  // Of the event that is decoded.
  const char* readable_end_ = nullptr;  ///< of the bytes that hold the events of the line
  std::vector<EventArgument> arguments_;
  ArgumentGroups looked_at_ = kAllArguments;
  ArgumentGroups groups_ = 0;  ///< of its arguments
};

void EventWalk::take(const EventPiece& piece) {
  const EventWindow& window = piece.window;
  const auto malformed = window.loss.counts.find("events_malformed");
  if (malformed != window.loss.counts.end()) totals_.event_count += malformed->second;
  totals_.loss.add(window.loss);
  for (std::size_t index = 0; index < window.parts.size(); ++index) {
    const LinePart& part = window.parts[index];
    if (line_ != piece.lines[index]) finish();
    line_ = piece.lines[index];
    const PlaneMetadata& plane = metadata_.planes[part.plane];
    const std::string_view bytes = window.bytes_of(part);
    const char* at = bytes.data();
    readable_end_ = at + bytes.size();
    for (EventHead head; !is_done_ && read_head(at, readable_end_, head);) take_event(plane, part.line_start, head);
  }
}

[[gnu::always_inline]] inline void EventWalk::take_event(const PlaneMetadata& plane, Picoseconds line_start,
                                                         const EventHead& head) {
  ++totals_.event_count;
  const EventMetadata* const found = plane.events.find(head.metadata_id);
  const EventMetadata& metadata = found == nullptr ? unnamed_ : *found;
  if (metadata.is_skipped || (!metadata.use.is_taken && !may_have_mark(plane, head.rest))) return;
  looked_at_ = metadata.use.arguments;
  EventTimes times;
  if (!read_times_and_arguments(plane, metadata, head, times)) return totals_.loss.add("events_malformed");
  if (!metadata.use.is_taken && (groups_ & EventSink::kMarks) == 0) return;
  TraceEvent event;
  event.line = line_;
  event.name = metadata.plain_name();
  event.name_number = metadata.number;
  event.short_name = metadata.display_name;
  event.start = times.offset + line_start;
  event.duration = times.duration;
  add_from_name(plane, metadata);
  if (const char* const fault = time_fault(event.start, event.duration)) return totals_.loss.add(fault);
  event.arguments = arguments_;
  sink_.take(event);
  is_done_ = sink_.is_done();
}

/// By a look at the ids of its statistics, which is all that most events need where others are marked.
[[gnu::always_inline]] inline bool EventWalk::may_have_mark(const PlaneMetadata& plane, std::string_view rest) const {
  const char* const stats = skip_usual_times(rest, readable_end_);
  const ArgumentGroups* const groups = plane.usual_groups.data();
  return stats == nullptr || !visit_usual_stats(stats, rest.data() + rest.size(), [&](const UsualStat& stat) {
           return (groups[stat.id] & EventSink::kMarks) == 0;
         });
}

/// False: the event is damaged.
[[gnu::always_inline]] inline bool EventWalk::read_times_and_arguments(const PlaneMetadata& plane,
                                                                       const EventMetadata& metadata,
                                                                       const EventHead& head, EventTimes& times) {
  const std::string_view rest = head.rest;
  arguments_.clear();
  groups_ = 0;
  const char* const stats = read_usual_times(rest, readable_end_, times);
  const auto pass_over = [](const UsualStat&) { return true; };
  if (stats != nullptr && !metadata.has_wanted_statistics &&
      visit_usual_stats(stats, rest.data() + rest.size(), pass_over)) {
    return true;
  }
  const bool is_usual =
      stats != nullptr && visit_usual_stats(stats, rest.data() + rest.size(),
                                            [&](const UsualStat& stat) { return add_usual_argument(plane, stat); });
  if (is_usual) return true;
  arguments_.clear();
  groups_ = 0;
  return read_event(
      WireMessage(head.bytes), times, [](WireMessage&) {},
      [&](std::string_view stat) { return add_any_argument(plane, stat); });
}

/// False: it is not usual, which is found of those that are not looked at, too, where all events are taken.
[[gnu::always_inline]] inline bool EventWalk::add_usual_argument(const PlaneMetadata& plane, const UsualStat& stat) {
  constexpr char kTextTag = static_cast<char>(kText << 3 | static_cast<std::uint32_t>(WireType::bytes));
  const bool is_looked_at = (plane.usual_groups.data()[stat.id] & looked_at_) != 0;
  if (!is_looked_at && looked_at_ != kAllArguments) return true;
  const char tag = *stat.value;
  const char* const value = stat.value + 1;
  const bool is_number =
      tag == varint_tag(kUnsignedValue) || tag == varint_tag(kSignedValue) || tag == varint_tag(kReference);
  if (!is_looked_at && is_number && end_of_readable_varint(value) == stat.end) return true;
  const ParsedVarint number = parse_readable_varint(value);
  const bool is_text = tag == kTextTag;
  if (number.end == nullptr || (!is_text && !is_number)) return false;
  const auto bytes_after = static_cast<std::uint64_t>(stat.end - number.end);
  if (bytes_after != (is_text ? number.value : 0)) return false;
  if (!is_looked_at) return true;
  const StatMetadata* const metadata = plane.stats.find(stat.id);
  groups_ |= metadata->groups;
  EventArgument& argument = arguments_.emplace_back();
  argument.name = metadata->name;
  argument.groups = metadata->groups;
  if (is_text) {
    argument.text = {number.end, number.value};
    return true;
  }
  argument.integer = static_cast<std::int64_t>(number.value);
  argument.unsigned_integer = number.value;
  if (tag == varint_tag(kReference)) {
    refer(plane, number.value, argument);
  } else {
    argument.type = tag == varint_tag(kSignedValue) ? ArgumentType::integer : ArgumentType::unsigned_integer;
  }
  return true;
}

/// The arguments that stand with the name of the event.
void EventWalk::add_from_name(const PlaneMetadata& plane, const EventMetadata& metadata) {
  for (const std::string& stat : metadata.stats) add_any_argument(plane, stat);
  if (metadata.plain_size < metadata.name.size()) {
    add_encoded_arguments(std::string_view(metadata.name).substr(metadata.plain_size + 1));
  }
}

void EventWalk::add_encoded_arguments(std::string_view text) {
  text = text.substr(0, text.find('#'));
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), pair.size() + 1));
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos) continue;
    const ArgumentGroups groups = sink_.groups_of(pair.substr(0, equals));
    if ((groups & looked_at_) == 0) continue;
    EventArgument& argument = arguments_.emplace_back();
    argument.groups = groups;
    argument.name = pair.substr(0, equals);
    argument.text = pair.substr(equals + 1);
  }
}

/// With fields in any order, some of which may be missing. False: it is damaged.
bool EventWalk::add_any_argument(const PlaneMetadata& plane, std::string_view stat) {
  EventArgument argument;
  const StatMetadata* metadata = nullptr;
  bool has_name = false;
  bool has_value = false;
  WireMessage message(stat);
  for (WireField field; message.next(field);) {
    if (field.is(kMetadataId, WireType::varint)) {
      if (std::exchange(has_name, true)) return false;
      metadata = plane.stats.find(field.number);
      continue;
    }
    if (std::exchange(has_value, true)) return false;
    switch (field.type()) {
      case WireType::bytes:
        argument.text = field.bytes();
        argument.text_number = 0;
        break;
      case WireType::fixed64:
        argument.type = ArgumentType::real;
        argument.real = field.as_double();
        break;
      case WireType::varint: {
        argument.type = field.field() == kSignedValue ? ArgumentType::integer : ArgumentType::unsigned_integer;
        argument.integer = field.as_signed();
        argument.unsigned_integer = field.number;
        if (field.field() == kReference) refer(plane, field.number, argument);
        break;
      }
      default:
        return false;
    }
  }
  if (message.is_damaged()) return false;
  if (metadata == nullptr || (metadata->groups & looked_at_) == 0 || !has_value) return true;
  argument.name = metadata->name;
  argument.groups = metadata->groups;
  groups_ |= metadata->groups;
  arguments_.push_back(argument);
  return true;
}

template <typename Take>
void hand_to_sink(const MetadataReader& metadata, const Take& take, EventSink& sink, const WorkOptions& work,
                  EventTotals& totals) {
  EventWalk walk(metadata, sink);
  for (EventPiece piece; !sink.is_done() && take(piece);) {
    walk.take(piece);
    totals.add(walk.take_totals(), work);
  }
  walk.finish();
}

/// A piece on its way, with the part of the sink that takes its events.
struct PieceWork {
  EventPiece piece;
  std::unique_ptr<EventSink> sink;
  EventTotals totals;
};

template <typename Take>
void hand_to_parts(const MetadataReader& metadata, const Take& take, PartedSink& sink, const WorkOptions& work,
                   EventTotals& totals) {
  const auto take_work = [&](PieceWork& item) {
    if (item.sink == nullptr) item.sink = sink.make_part();
    return take(item.piece);
  };
  const auto walk = [&](PieceWork& item) {
    EventWalk events(metadata, *item.sink);
    events.take(item.piece);
    item.totals = events.take_totals();
  };
  OrderedWork<PieceWork, decltype(take_work), decltype(walk)> items(work.threads, take_work, walk);
  while (PieceWork* const item = sink.is_done() ? nullptr : items.next()) {
    sink.join(*item->sink);
    totals.add(item->totals, work);
  }
}

}  // namespace

Result<EventTotals> read_xspace_events(ByteSource& source, EventSink& sink, WantedPlanes planes,
                                       const WorkOptions& work) {
  if (const Result<void> start = source.rewind(); !start) return Unexpected(start.error());
  MetadataReader metadata;
  EventTotals totals;
  const XSpaceClock clock = walk_planes(source, work, metadata, totals.loss);
  metadata.header.origin_ns = clock.origin_ns;
  metadata.header.first_ns = clock.first_ns;
  if (const Result<void> again = source.rewind(); !again) return Unexpected(again.error());
  sink.begin(metadata.header);
  for (PlaneMetadata& plane : metadata.planes) ask_sink(sink, plane);
  std::vector<PlaneUse> uses;
  for (const PlaneMetadata& plane : metadata.planes) {
    const bool is_wanted = planes == WantedPlanes::all || plane.plane.kind == PlaneKind::device;
    uses.push_back(is_wanted ? PlaneUse::decode : PlaneUse::skip);
  }
  XSpaceWindows windows(source, std::move(uses), clock.origin_ns, work.window_size);
  PieceTaker pieces(metadata, windows);
  const auto take = [&](EventPiece& piece) {
    const bool is_taken = pieces.take(piece);
    if (is_taken && work.progress != nullptr) work.progress->bytes_read = source.stored_position();
    return is_taken;
  };
  if (PartedSink* const parted = parts_of(sink, work)) {
    hand_to_parts(metadata, take, *parted, work, totals);
  } else {
    hand_to_sink(metadata, take, sink, work, totals);
  }
  return totals;
}

}  // namespace doctor
