#include "trace/xspace/xspace_walk.h"

#include <fmt/format.h>

#include "trace/event_reader.h"
#include "trace/format.h"

namespace doctor {
namespace {

using namespace xspace_field;

/// Planes, and names of hosts, that are read of a file; real ones have tens. Each takes up to 5 KB in a page.
constexpr std::size_t kMostPlanes = 4096;

class PlaneWalk {
 public:
  PlaneWalk(ByteSource& source, const WorkOptions& work, PlaneVisitor& visitor, Loss& loss)
      : source_(source), work_(work), stream_(source, work.window_size), visitor_(visitor), loss_(loss) {}

  XSpaceClock walk();

 private:
  void walk_file();
  bool is_one_too_many(bool is_plane);
  void walk_plane(std::uint64_t end);
  void walk_line(std::uint64_t end);
  void note_line(std::int64_t timestamp_ns);
  bool take_plane_field(std::uint32_t field, std::uint64_t length);
  MetadataEntry take_entry(std::string_view bytes);
  bool skip_to(std::uint64_t end);
  void end_inside_plane(std::uint64_t end);
  void damage(std::string_view what);

  ByteSource& source_;
  const WorkOptions& work_;
  WireStream stream_;
  PlaneVisitor& visitor_;
  Loss& loss_;
  XSpaceClock clock_;
  std::int64_t shift_ns_ = 0;  ///< of the clock of the file that holds the plane
  std::size_t plane_count_ = 0;
  std::size_t host_name_count_ = 0;
  bool is_host_ = false;            ///< the plane is a host
  bool has_damaged_entry_ = false;  ///< which was noted
};

/// Enters why the walk cannot go on: a read error, or `what`.
void PlaneWalk::damage(std::string_view what) {
  if (stream_.error()) {
    loss_.add("input_cut_off");
    loss_.notes.push_back(to_string(*stream_.error()));
  } else {
    loss_.add("messages_malformed");
    loss_.notes.push_back(fmt::format("{}: {} at byte {}", source_.name(), what, stream_.position()));
  }
}

XSpaceClock PlaneWalk::walk() {
  walk_file();
  return clock_;
}

void PlaneWalk::walk_file() {
  while (!stream_.at_end()) {
    const std::optional<WireTag> tag = stream_.read_tag();
    if (!tag) return damage("the file is no longer an XSpace");
    const bool is_plane = tag->field == kPlane && tag->type == WireType::bytes;
    const bool is_host_name = tag->field == kHostName && tag->type == WireType::bytes;
    if ((!is_plane && !is_host_name) || is_one_too_many(is_plane)) {
      if (!stream_.skip_value(*tag)) return damage("the file ends inside a field");
      continue;
    }
    const std::optional<std::uint64_t> length = stream_.read_number();
    if (!length || *length > UINT64_MAX - stream_.position()) return damage("a field has no valid length");
    const std::uint64_t end = stream_.position() + *length;
    if (is_host_name) {
      const std::optional<std::string_view> name = stream_.read_bytes(*length);
      if (!name) return damage("the file ends inside a host name");
      visitor_.host_name(*name);
      continue;
    }
    is_host_ = false;
    shift_ns_ = source_.clock_shift_ns(stream_.position());
    visitor_.begin_plane();
    walk_plane(end);
    if (!stream_.skip_to(end)) return end_inside_plane(end);
  }
  if (stream_.error()) damage("read error");
}

/// Counts a plane or the name of a host; enters it as lost where there are too many. The second walk skips what comes
/// after the planes of this one.
bool PlaneWalk::is_one_too_many(bool is_plane) {
  std::size_t& count = is_plane ? plane_count_ : host_name_count_;
  if (count < kMostPlanes) {
    ++count;
    return false;
  }
  if (!is_plane) return true;
  if (!loss_.counts.contains("planes_too_many")) {
    loss_.notes.push_back(
        fmt::format("{}: holds more than {} planes, more than any profiler writes: the others are lost", source_.name(),
                    kMostPlanes));
  }
  loss_.add("planes_too_many");
  return true;
}

void PlaneWalk::walk_plane(std::uint64_t end) {
  while (stream_.position() < end && !stream_.at_end()) {
    const std::optional<WireTag> tag = stream_.read_tag();
    if (!tag) return damage("a plane holds bytes that are not a field");
    if (tag->type != WireType::bytes) {
      if (!stream_.skip_value(*tag)) return;
      continue;
    }
    const std::optional<std::uint64_t> length = stream_.read_number();
    if (!length || *length > end - std::min(end, stream_.position())) {
      return damage("a field is longer than its plane");
    }
    const std::uint64_t field_end = stream_.position() + *length;
    if (!take_plane_field(tag->field, *length) || !skip_to(field_end)) return;
  }
}

/// The plane says how long it should be, and with it the least that the whole file should be.
void PlaneWalk::end_inside_plane(std::uint64_t end) {
  if (!stream_.error() && end > 0) {
    loss_.kept_share = static_cast<double>(stream_.position()) / static_cast<double>(end);
  }
  damage("the file ends inside a plane: it was cut off");
}

/// False: the source ends inside the field.
bool PlaneWalk::take_plane_field(std::uint32_t field, std::uint64_t length) {
  if (field < kPlaneName || field > kPlaneStat) return true;
  if (field == kLine) {  // the events of a line that is cut off are read as far as they go
    walk_line(stream_.position() + length);
    return true;
  }
  const std::optional<std::string_view> bytes = stream_.read_bytes(length);
  if (!bytes) return false;
  if (field == kPlaneName) {
    is_host_ = kind_of_plane(*bytes) == PlaneKind::host;
    visitor_.plane_name(*bytes);
  }
  if (field == kEventMetadata) visitor_.event_metadata(take_entry(*bytes));
  if (field == kStatMetadata) visitor_.stat_metadata(take_entry(*bytes));
  if (field == kPlaneStat) visitor_.plane_stat(*bytes);
  return true;
}

/// Of many that are damaged the first is noted.
MetadataEntry PlaneWalk::take_entry(std::string_view bytes) {
  const MetadataEntry entry = read_metadata_entry(bytes);
  if (entry.is_damaged) {
    if (has_damaged_entry_) {
      loss_.add("messages_malformed");
    } else {
      damage("a name has a field twice");
    }
    has_damaged_entry_ = true;
  }
  return entry;
}

/// Looks for the timestamp of a line, which stands before its events. The second walk reports damage in here.
void PlaneWalk::walk_line(std::uint64_t end) {
  std::int64_t timestamp_ns = 0;
  while (true) {
    stream_.prepare(WireStream::kFieldHead);
    const std::size_t place = stream_.place();
    const std::optional<WireTag> tag = stream_.position() < end ? stream_.read_tag() : std::nullopt;
    if (!tag) return stream_.go_back(place);
    const bool is_fixed = tag->type == WireType::fixed64 || tag->type == WireType::fixed32;
    const std::optional<std::uint64_t> number =
        is_fixed ? (tag->type == WireType::fixed64 ? 8 : 4) : stream_.read_number();
    const bool is_varint = tag->type == WireType::varint;
    const std::uint64_t here = stream_.position();
    if (!number || here > end || (!is_varint && *number > end - here)) return stream_.go_back(place);
    if (tag->field == kEvent && tag->type == WireType::bytes) return note_line(timestamp_ns);
    if (tag->field == kLineTimestamp && is_varint) timestamp_ns = static_cast<std::int64_t>(*number);
    if (!is_varint && !stream_.skip_to(here + *number)) return;
  }
}

void PlaneWalk::note_line(std::int64_t timestamp_ns) {
  timestamp_ns = shifted(timestamp_ns, shift_ns_);
  clock_.first_ns = clock_.is_set ? std::min(clock_.first_ns, timestamp_ns) : timestamp_ns;
  const bool is_first = is_host_ ? !clock_.is_of_host : !clock_.is_set;
  if (is_first) clock_.origin_ns = timestamp_ns;
  clock_.is_of_host = clock_.is_of_host || is_host_;
  clock_.is_set = true;
}

/// Moves on in steps: where the source must be inflated to be skipped, that is the work which progress is about.
bool PlaneWalk::skip_to(std::uint64_t end) {
  constexpr std::uint64_t kStep = std::uint64_t{16} << 20;
  while (stream_.position() < end) {
    if (!stream_.skip_to(std::min(end, stream_.position() + kStep))) return false;
    if (work_.progress != nullptr) work_.progress->bytes_read = source_.stored_position();
  }
  return stream_.position() == end;
}

}  // namespace

bool sniff_xspace(std::string_view head) {
  // An XSpace is a row of fields 1 to 4, all length-delimited. The first is a plane in practice; it begins with its id
  // or its name, which is text: the profiles of TF 1.14 to 2.1 (`local.trace`) have a message in that place.
  std::size_t position = 0;
  const std::optional<std::uint64_t> key = read_varint(head, position);
  const std::optional<WireTag> tag = key ? to_tag(*key) : std::nullopt;
  if (!tag || tag->type != WireType::bytes || tag->field > 4) return false;
  const std::optional<std::uint64_t> length = read_varint(head, position);
  if (!length) return false;
  if (tag->field != 1) return true;
  WireMessage plane(head.substr(position, std::min<std::uint64_t>(*length, head.size() - position)));
  for (WireField field; plane.next(field);) {
    const WireType expected = field.field() == 1 ? WireType::varint : WireType::bytes;
    if (field.field() > 6 || field.type() != expected) return false;
    if (field.field() != 2) continue;
    const std::string_view name = field.bytes();
    return std::none_of(name.begin(), name.end(), [](unsigned char c) { return c < ' '; });
  }
  return true;
}

std::int64_t shifted(std::int64_t timestamp_ns, std::int64_t shift_ns) {
  std::int64_t moved = 0;
  return __builtin_add_overflow(timestamp_ns, shift_ns, &moved) ? timestamp_ns : moved;
}

XSpaceClock walk_planes(ByteSource& source, const WorkOptions& work, PlaneVisitor& visitor, Loss& loss) {
  return PlaneWalk(source, work, visitor, loss).walk();
}

MetadataEntry read_metadata_entry(std::string_view entry) {
  constexpr std::uint32_t kSingularOfEntry = 1u << 1 | 1u << 2;
  constexpr std::uint32_t kSingularOfMetadata = 1u << 1 | 1u << kName | 1u << 3 | 1u << kDisplayName;
  MetadataEntry result;
  std::uint32_t seen = 0;
  WireMessage message(entry);
  for (WireField field; message.next(field);) {
    if (comes_again(field.field(), kSingularOfEntry, seen)) result.is_damaged = true;
    if (field.is(1, WireType::varint)) result.id = field.number;
    if (field.is(2, WireType::bytes)) result.metadata = field.bytes();
  }
  seen = 0;
  message = WireMessage(result.metadata);
  for (WireField field; message.next(field);) {
    if (comes_again(field.field(), kSingularOfMetadata, seen)) result.is_damaged = true;
    if (field.is(kName, WireType::bytes)) result.name = field.bytes();
    if (field.is(kDisplayName, WireType::bytes)) result.display_name = field.bytes();
    if (field.is(kStatOfMetadata, WireType::bytes)) result.has_statistics = true;
  }
  return result;
}

std::uint64_t find_metadata_id(WireMessage event) {
  for (WireField field; event.next(field);) {
    if (field.is(kMetadataId, WireType::varint)) return field.number;
  }
  return 0;
}

}  // namespace doctor
