#pragma once

#include <memory>

#include "trace/event_reader.h"

namespace doctor {

/// A sink that looks at all arguments and whose events may be taken on several threads. A reader that can (that of an
/// XSpace) hands the events of each piece of the file to a part, and joins the parts in the order of the file: what
/// comes of it is the same as if the sink had taken all events itself.
class PartedSink : public EventSink {
 public:
  /// A sink for pieces of the file, which one thread at a time uses. Called after begin(), on any thread, also while
  /// another part is joined. Null, always: there are no parts, and all events are to be taken by this sink.
  virtual std::unique_ptr<EventSink> make_part() = 0;
  /// What `part` has taken since it was made, or joined last, stands next in the file.
  virtual void join(EventSink& part) = 0;
};

/// The sink as one with parts; null where it has none, or one thread works alone. After begin().
inline PartedSink* parts_of(EventSink& sink, const WorkOptions& work) {
  auto* const parted = work.threads > 1 ? dynamic_cast<PartedSink*>(&sink) : nullptr;
  return parted != nullptr && parted->make_part() != nullptr ? parted : nullptr;
}

}  // namespace doctor
