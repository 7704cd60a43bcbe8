#pragma once

#include "base/time.h"
#include "io/byte_source.h"
#include "trace/trace.h"
#include "trace/wire.h"

namespace doctor {

/// Consecutive events of one line in a window: bytes [begin, end) are `events` fields.
struct LinePart {
  std::size_t plane = 0;  ///< index of its plane in the file
  std::size_t line = 0;   ///< index of its line among those with events
  std::uint64_t line_id = 0;
  std::string line_name;
  Picoseconds line_start = 0;  ///< relative to the origin of the trace
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// A piece of a file whose events can be decoded without the rest of it.
struct EventWindow {
  RawBytes bytes;
  std::vector<LinePart> parts;
  std::uint64_t other_events = 0;  ///< number of events of planes that are only counted
  Loss loss;                       ///< loss met on the way to these parts

  std::string_view bytes_of(const LinePart& part) const { return {bytes.data() + part.begin, part.end - part.begin}; }
  bool is_empty() const { return parts.empty() && other_events == 0 && loss.complete(); }
};

/// The treatment of a plane's events.
enum class PlaneUse : std::uint8_t { skip, count, decode };

/// Cuts an XSpace into windows, in file order: the second walk over the file. The first walk has reported damage
/// outside of lines.
class XSpaceWindows {
 public:
  /// `planes` has an entry for each plane of the file; planes without an entry are skipped. Times count from
  /// `origin_ns`.
  XSpaceWindows(ByteSource& source, std::vector<PlaneUse> planes, std::int64_t origin_ns, std::size_t window_size)
      : planes_(std::move(planes)),
        origin_ns_(origin_ns),
        source_(source),
        stream_(source, window_size),
        source_name_(source.name()) {}

  /// Fills `window`, whose buffers are reused. Returns false at the end, with an empty window.
  bool take(EventWindow& window);

 private:
  enum class Level { file, plane, line };

  /// A field whose value is still to be read: `number` is a varint's value, or the length of bytes.
  struct Field {
    WireTag tag;
    std::uint64_t number = 0;
    std::size_t place = 0;  ///< place of its tag in the stream's window
  };

  // Each of these handles one field, or leaves a message. False: `window` must be cut here, or the file has ended.
  bool advance(EventWindow& window);
  bool take_file_field(const Field& field, EventWindow& window);
  bool take_plane_field(const Field& field, EventWindow& window);
  bool take_line_field(const Field& field, EventWindow& window);
  bool hold(const Field& field, EventWindow& window);
  bool skip_to(std::uint64_t end, std::size_t place, EventWindow& window);
  bool leave(EventWindow& window);

  std::uint64_t end_of_level() const;
  bool is_within_level(const Field& field) const;
  std::optional<Field> read_field();
  void note_line_field(std::uint32_t field, EventWindow& window);
  void add_event(const Field& field, EventWindow& window);

  std::vector<PlaneUse> planes_;
  std::int64_t origin_ns_;
  const ByteSource& source_;
  std::int64_t shift_ns_ = 0;  ///< shift of the clock of the file that holds the plane
  WireStream stream_;
  std::string source_name_;
  Level level_ = Level::file;
  bool is_finished_ = false;
  std::size_t plane_count_ = 0;
  PlaneUse use_ = PlaneUse::skip;  ///< use of the current plane
  std::uint64_t plane_end_ = 0;
  bool is_damaged_ = false;     ///< the rest of the plane or line cannot be parsed
  std::size_t line_count_ = 0;  ///< lines with events

  // The line that is being walked.
  std::uint64_t line_end_ = 0;
  std::uint64_t line_id_ = 0;
  std::string line_name_;
  std::string line_display_name_;
  std::uint32_t line_fields_ = 0;    ///< bits of its singular fields that were met
  bool has_repeated_field_ = false;  ///< an earlier line has one, which was noted
  std::int64_t line_timestamp_ns_ = 0;
  bool line_has_events_ = false;
  Picoseconds line_start_ = 0;
};

}  // namespace doctor
