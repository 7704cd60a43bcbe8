#include "trace/xspace_walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

namespace doctor {
namespace {

// Field numbers of XSpace and XPlane, see xspace.proto. A plane has no others from its name to its statistics.
constexpr std::uint32_t kPlane = 1;
constexpr std::uint32_t kHostName = 4;
constexpr std::uint32_t kPlaneName = 2;
constexpr std::uint32_t kLine = 3;
constexpr std::uint32_t kEventMetadata = 4;
constexpr std::uint32_t kStatMetadata = 5;
constexpr std::uint32_t kPlaneStat = 6;

/// Id, name and timestamp of a line fit into it, but for names longer than any thread has.
constexpr std::uint64_t kLineHead = 1024;

class PlaneWalk {
 public:
  PlaneWalk(ByteSource& source, const WorkOptions& work, PlaneVisitor& visitor, Loss& loss)
      : source_(source), work_(work), stream_(source, work.window_size), visitor_(visitor), loss_(loss) {}

  void walk();

 private:
  void walk_plane(std::uint64_t end);
  bool take_plane_field(std::uint32_t field, std::uint64_t length);
  bool skip_to(std::uint64_t end);
  void end_inside_plane(std::uint64_t end);
  void damage(std::string_view what) { add_damage(stream_, source_.name(), what, loss_); }

  ByteSource& source_;
  const WorkOptions& work_;
  WireStream stream_;
  PlaneVisitor& visitor_;
  Loss& loss_;
};

void PlaneWalk::walk() {
  while (!stream_.at_end()) {
    const std::optional<WireTag> tag = stream_.read_tag();
    if (!tag) return damage("the file is no longer an XSpace");
    const bool is_plane = tag->field == kPlane && tag->type == WireType::bytes;
    const bool is_host_name = tag->field == kHostName && tag->type == WireType::bytes;
    if (!is_plane && !is_host_name) {
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
    visitor_.begin_plane();
    walk_plane(end);
    if (!stream_.skip_to(end)) return end_inside_plane(end);
  }
  if (stream_.error()) damage("read error");
}

void PlaneWalk::walk_plane(std::uint64_t end) {
  while (stream_.position() < end && !stream_.at_end()) {
    const std::optional<WireTag> tag = stream_.read_tag();
    if (!tag) return damage("a plane holds bytes that are no field");
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
    visitor_.line_head(stream_.read_up_to(std::min(length, kLineHead)));
    return true;
  }
  const std::optional<std::string_view> bytes = stream_.read_bytes(length);
  if (!bytes) return false;
  if (field == kPlaneName) visitor_.plane_name(*bytes);
  if (field == kEventMetadata) visitor_.event_metadata(*bytes);
  if (field == kStatMetadata) visitor_.stat_metadata(*bytes);
  if (field == kPlaneStat) visitor_.plane_stat(*bytes);
  return true;
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

void walk_planes(ByteSource& source, const WorkOptions& work, PlaneVisitor& visitor, Loss& loss) {
  PlaneWalk(source, work, visitor, loss).walk();
}

void add_damage(const WireStream& stream, std::string_view source_name, std::string_view what, Loss& loss) {
  if (stream.error()) {
    loss.add("input_cut_off");
    loss.notes.push_back(to_string(*stream.error()));
  } else {
    loss.add("messages_malformed");
    loss.notes.push_back(fmt::format("{}: {} at byte {}", source_name, what, stream.position()));
  }
}

}  // namespace doctor
