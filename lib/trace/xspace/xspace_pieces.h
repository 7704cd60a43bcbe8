#pragma once

#include <deque>
#include <vector>

#include "trace/event_reader.h"
#include "trace/xspace/xspace_names.h"
#include "trace/xspace/xspace_windows.h"

namespace doctor {

/// A piece of the file, and the line of each of its parts.
struct EventPiece {
  EventWindow window;
  std::vector<const EventLine*> lines;
};

/// Takes the pieces of a file in order and makes its lines, which live as long as this.
class PieceTaker {
 public:
  PieceTaker(const MetadataReader& metadata, XSpaceWindows& windows, bool is_for_trace)
      : metadata_(metadata), windows_(windows), is_for_trace_(is_for_trace) {}

  bool take(EventPiece& piece);

 private:
  const MetadataReader& metadata_;
  XSpaceWindows& windows_;
  const bool is_for_trace_;
  std::deque<EventLine> lines_;
};

inline bool PieceTaker::take(EventPiece& piece) {
  piece.lines.clear();
  if (!windows_.take(piece.window)) return false;
  for (const LinePart& part : piece.window.parts) {
    if (part.line == lines_.size()) {
      EventLine& line = lines_.emplace_back();
      line.plane = &metadata_.planes[part.plane].plane;
      line.name = part.line_name;
      // Only conversions have lines of a host that repeat others.
      line.kind = is_for_trace_ ? LineKind::activity : kind_of_line(*line.plane, line.name);
      line.id = part.line_id;
      line.index = part.line;
      line.has_thread_id = true;
    }
    piece.lines.push_back(&lines_.back());
  }
  return true;
}

}  // namespace doctor
