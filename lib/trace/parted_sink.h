#pragma once

#include <memory>

#include "trace/event_reader.h"

namespace doctor {

/// A sink that uses all arguments, and whose events may be taken on several threads. A reader that supports it (that of
/// an XSpace) hands the events of each piece of the file to a part, and joins the parts in the order of the file. The
/// result is the same as if the sink had taken all events itself.
class PartedSink : public EventSink {
 public:
  /// Makes a sink for pieces of the file, which one thread at a time uses. Called after begin(), on any thread, also
  /// while another part is joined. If it returns null, it always does: there are no parts, and this sink takes all
  /// events itself.
  virtual std::unique_ptr<EventSink> make_part() = 0;
  /// Appends what `part` has taken since it was made or last joined.
  virtual void join(EventSink& part) = 0;
};

/// The sink as one with parts; null if it has none, or if one thread works alone. Call it after begin().
inline PartedSink* parts_of(EventSink& sink, const WorkOptions& work) {
  auto* const parted = work.threads > 1 ? dynamic_cast<PartedSink*>(&sink) : nullptr;
  return parted != nullptr && parted->make_part() != nullptr ? parted : nullptr;
}

}  // namespace doctor
