#pragma once

#include "base/work.h"
#include "io/byte_source.h"
#include "trace/trace.h"
#include "trace/xspace/xspace_wire.h"

namespace doctor {

/// Receives the parts of an XSpace outside of its lines, in file order.
class PlaneVisitor {
 public:
  PlaneVisitor() = default;
  PlaneVisitor(const PlaneVisitor&) = delete;
  PlaneVisitor& operator=(const PlaneVisitor&) = delete;
  virtual ~PlaneVisitor() = default;

  virtual void host_name(std::string_view name) = 0;
  virtual void begin_plane() = 0;
  virtual void plane_name(std::string_view name) = 0;
  virtual void event_metadata(const MetadataEntry& entry) = 0;
  virtual void stat_metadata(const MetadataEntry& entry) = 0;
  virtual void plane_stat(std::string_view /*stat*/) {}  ///< a statistic of the plane itself, an XStat
};

/// The timestamps of the lines that have events, in nanoseconds.
struct XSpaceClock {
  std::int64_t origin_ns = 0;  ///< timestamp of the first line of a host, else of the first line; times count from it
  bool is_of_host = false;     ///< `origin_ns` is of a host's line
  bool is_set = false;         ///< there is a line with events
  std::int64_t first_ns = 0;   ///< the earliest timestamp
};

/// A timestamp moved to the clock of another file. A damaged one is unchanged.
std::int64_t shifted(std::int64_t timestamp_ns, std::int64_t shift_ns);

/// The first walk over an XSpace, for the names, which stand after the events that they name. Events are skipped.
/// Damage outside of lines is added to `loss`, with a note.
XSpaceClock walk_planes(ByteSource& source, const WorkOptions& work, PlaneVisitor& visitor, Loss& loss);

}  // namespace doctor
