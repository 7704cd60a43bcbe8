#pragma once

#include <cstdint>
#include <string_view>

#include "base/work.h"
#include "io/byte_source.h"
#include "trace/trace.h"
#include "trace/wire.h"

namespace doctor {

/// Told by walk_planes() what stands in an XSpace outside of its lines, in file order.
class PlaneVisitor {
 public:
  PlaneVisitor() = default;
  PlaneVisitor(const PlaneVisitor&) = delete;
  PlaneVisitor& operator=(const PlaneVisitor&) = delete;
  virtual ~PlaneVisitor() = default;

  virtual void host_name(std::string_view name) = 0;
  virtual void begin_plane() = 0;
  virtual void plane_name(std::string_view name) = 0;
  virtual void event_metadata(std::string_view entry) = 0;  ///< an entry of the map, in wire format
  virtual void stat_metadata(std::string_view entry) = 0;   ///< likewise
  virtual void plane_stat(std::string_view /*stat*/) {}     ///< a statistic of the plane itself, an XStat
  /// A line begins: the first of its bytes, which hold its id, name and timestamp in practice.
  virtual void line_head(std::string_view /*head*/) {}
};

/// The first walk over an XSpace: names stand behind the events that they name. Lines are skipped. Damage outside of
/// lines is entered into `loss`, with a note.
void walk_planes(ByteSource& source, const WorkOptions& work, PlaneVisitor& visitor, Loss& loss);

/// Enters why a walk over `stream` cannot go on: its read error, or `what` at its position.
void add_damage(const WireStream& stream, std::string_view source_name, std::string_view what, Loss& loss);

}  // namespace doctor
