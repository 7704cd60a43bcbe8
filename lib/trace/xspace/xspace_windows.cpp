#include "trace/xspace/xspace_windows.h"

#include <fmt/format.h>

#include "trace/event_reader.h"
#include "trace/xspace/xspace_walk.h"
#include "trace/xspace/xspace_wire.h"

namespace doctor {
namespace {

using namespace xspace_field;

/// An event is a few hundred bytes; one that claims to be larger than this is damage.
constexpr std::uint64_t kLargestEvent = 16 << 20;

}  // namespace

bool XSpaceWindows::take(EventWindow& window) {
  window.parts.clear();
  window.other_events = 0;
  window.loss = {};
  while (!is_finished_ && advance(window)) {
  }
  if (!window.parts.empty()) stream_.hand_over(window.bytes);
  return !is_finished_ || !window.is_empty();
}

bool XSpaceWindows::advance(EventWindow& window) {
  if (!stream_.holds(WireStream::kFieldHead)) {
    if (!window.parts.empty()) return false;
    stream_.prepare(WireStream::kFieldHead);
  }
  if (is_damaged_ || stream_.position() >= end_of_level() || stream_.at_end()) return leave(window);
  const std::size_t place = stream_.place();
  const std::optional<Field> field = read_field();
  if (field && is_within_level(*field)) {
    if (level_ == Level::line) return take_line_field(*field, window);
    return level_ == Level::plane ? take_plane_field(*field, window) : take_file_field(*field, window);
  }
  if (level_ == Level::line) {
    window.loss.add("messages_malformed");
    window.loss.notes.push_back(fmt::format(
        "{}: {} at byte {}", source_name_,
        field ? "an event is longer than its line" : "a line holds bytes that are not a field", stream_.position()));
  }
  stream_.go_back(place);  // its bytes may be those after the level
  is_damaged_ = true;
  return true;
}

bool XSpaceWindows::is_within_level(const Field& field) const {
  if (stream_.position() > end_of_level()) return false;
  return field.tag.type == WireType::varint || field.number <= end_of_level() - stream_.position();
}

std::uint64_t XSpaceWindows::end_of_level() const {
  if (level_ == Level::file) return UINT64_MAX;
  return level_ == Level::plane ? plane_end_ : line_end_;
}

/// The tag of the next field, and its number where its type has one; the length of a fixed value.
std::optional<XSpaceWindows::Field> XSpaceWindows::read_field() {
  Field field;
  field.place = stream_.place();
  const std::optional<WireTag> tag = stream_.read_tag();
  if (!tag) return std::nullopt;
  field.tag = *tag;
  if (tag->type == WireType::fixed64 || tag->type == WireType::fixed32) {
    field.number = tag->type == WireType::fixed64 ? 8 : 4;
    return field;
  }
  const std::optional<std::uint64_t> number = stream_.read_number();
  if (!number) return std::nullopt;
  field.number = *number;
  return field;
}

/// Out of a line or plane, whose rest is skipped; out of the file where nothing is left.
bool XSpaceWindows::leave(EventWindow& window) {
  if (level_ == Level::file) {
    is_finished_ = true;
    return false;
  }
  if (!skip_to(end_of_level(), stream_.place(), window)) return false;
  level_ = level_ == Level::line ? Level::plane : Level::file;
  is_damaged_ = false;
  return true;
}

/// Skips what nobody wants. Where that would move the stream's window away from under the parts of `window`, it goes
/// back to `place` and the window is cut first.
bool XSpaceWindows::skip_to(std::uint64_t end, std::size_t place, EventWindow& window) {
  if (!window.parts.empty() && !stream_.holds(end - std::min(end, stream_.position()))) {
    stream_.go_back(place);
    return false;
  }
  if (stream_.position() < end && !stream_.skip_to(end)) is_finished_ = true;
  return !is_finished_;
}

/// Makes the bytes of a field available. False: they are not there; whoever called returns what advance() returns
/// next.
bool XSpaceWindows::hold(const Field& field, EventWindow& window) {
  if (stream_.holds(field.number)) return true;
  stream_.go_back(field.place);
  if (window.parts.empty()) stream_.prepare(WireStream::kFieldHead + field.number);
  return false;
}

bool XSpaceWindows::take_file_field(const Field& field, EventWindow& window) {
  if (field.tag.type == WireType::varint) return true;
  const std::uint64_t end = stream_.position() + field.number;
  if (field.tag.field != kPlane || field.tag.type != WireType::bytes || plane_count_ == planes_.size()) {
    return skip_to(end, field.place, window);
  }
  use_ = planes_[plane_count_];
  if (use_ == PlaneUse::skip) {
    if (!skip_to(end, field.place, window)) return false;
    ++plane_count_;
    return true;
  }
  ++plane_count_;
  shift_ns_ = source_.clock_shift_ns(stream_.position());
  plane_end_ = end;
  level_ = Level::plane;
  return true;
}

bool XSpaceWindows::take_plane_field(const Field& field, EventWindow& window) {
  if (field.tag.type == WireType::varint) return true;
  const std::uint64_t end = stream_.position() + field.number;
  if (field.tag.field != kLine || field.tag.type != WireType::bytes) return skip_to(end, field.place, window);
  line_end_ = end;
  line_id_ = 0;
  line_name_.clear();
  line_display_name_.clear();
  line_fields_ = 0;
  line_timestamp_ns_ = 0;
  line_has_events_ = false;
  level_ = Level::line;
  return true;
}

bool XSpaceWindows::take_line_field(const Field& field, EventWindow& window) {
  if (field.tag.type == WireType::varint) {
    note_line_field(field.tag.field, window);
    if (field.tag.field == kLineId) line_id_ = field.number;
    if (field.tag.field == kLineTimestamp) line_timestamp_ns_ = static_cast<std::int64_t>(field.number);
    if (field.tag.field == kLineTimestamp && line_has_events_) window.loss.add("lines_with_late_timestamp");
    return true;
  }
  const bool is_bytes = field.tag.type == WireType::bytes;
  const bool is_event = is_bytes && field.tag.field == kEvent;
  const bool is_display_name = is_bytes && field.tag.field == kLineDisplayName;
  const bool is_wanted =
      (is_event && use_ == PlaneUse::decode) || is_display_name || (is_bytes && field.tag.field == kLineName);
  if (!is_wanted || field.number > kLargestEvent) {
    const std::uint64_t end = stream_.position() + field.number;
    if (!skip_to(end, field.place, window)) return false;
    if (is_event && !is_wanted) ++window.other_events;
    if (is_wanted) window.loss.add("events_malformed");
    return true;
  }
  if (!hold(field, window)) return window.parts.empty();
  const std::optional<std::string_view> bytes = stream_.read_bytes(field.number);
  if (!bytes) {
    is_finished_ = true;  // the file ends here, which the first walk has reported
  } else if (is_event) {
    add_event(field, window);
  } else {
    note_line_field(field.tag.field, window);
    (is_display_name ? line_display_name_ : line_name_) = *bytes;
  }
  return !is_finished_;
}

/// Of a field that was taken. Of those that come again the first is noted.
void XSpaceWindows::note_line_field(std::uint32_t field, EventWindow& window) {
  constexpr std::uint32_t kSingular = 1u << kLineId | 1u << kLineName | 1u << kLineTimestamp | 1u << kLineDuration |
                                      1u << kLineDisplayId | 1u << kLineDisplayName;
  if (!comes_again(field, kSingular, line_fields_)) return;
  window.loss.add("messages_malformed");
  if (std::exchange(has_repeated_field_, true)) return;
  window.loss.notes.push_back(fmt::format("{}: a line has a field twice at byte {}", source_name_, stream_.position()));
}

void XSpaceWindows::add_event(const Field& field, EventWindow& window) {
  if (!line_has_events_) {
    line_has_events_ = true;
    ++line_count_;
    line_start_ = time_since_origin(shifted(line_timestamp_ns_, shift_ns_), origin_ns_);
  }
  const bool continues = !window.parts.empty() && window.parts.back().end == field.place;
  if (!continues) {
    const std::string& name = line_name_.empty() ? line_display_name_ : line_name_;
    window.parts.push_back({plane_count_ - 1, line_count_ - 1, line_id_, name, line_start_, field.place, field.place});
  }
  constexpr unsigned char kEventTag = kEvent << 3 | static_cast<unsigned char>(WireType::bytes);
  stream_.skip_run(kEventTag, line_end_);  // most of a file: one event after another
  window.parts.back().end = stream_.place();
}

}  // namespace doctor
