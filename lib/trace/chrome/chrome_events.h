#pragma once

#include "base/result.h"
#include "base/time.h"
#include "io/byte_source.h"
#include "trace/chrome/json_events.h"
#include "trace/trace.h"
#include "trace/trace_builder.h"

namespace doctor {

/// An event on a thread of a Chrome trace. Views live until the next event is decoded.
struct ChromeEvent {
  std::uint64_t process = 0;
  std::uint64_t thread = 0;
  std::string_view name;
  Picoseconds start = 0;     ///< since the origin of the document
  Picoseconds duration = 0;  ///< as in the document, so it may be negative; 0 for an instant
  std::span<const JsonMember> arguments;
};

/// Tests whether an event of this phase is on a thread: it is complete (X), a begin or an end (B, E), or an instant (i
/// and its older spellings).
constexpr bool is_on_thread(char phase) {
  return phase == 'X' || phase == 'B' || phase == 'E' || phase == 'i' || phase == 'I' || phase == 'n';
}

/// Events that have begun and not ended yet, thread by thread.
class OpenChromeEvents {
 public:
  void begin(const JsonEvent& event, Picoseconds start);

  /// Ends the innermost open event of the thread; null if none is open. The result has the fields of its begin, without
  /// a duration, and the arguments of both; if two have one name, the end's counts ("Trace Event Format", duration
  /// events).
  const ChromeEvent* end(const JsonEvent& event);

  /// The number of open events.
  std::uint64_t size() const;

 private:
  struct Begun {
    std::string name;
    std::string arguments;
    Picoseconds start = 0;
  };

  std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<Begun>> begun_;  ///< by process and thread
  Begun ended_;  ///< the storage that `whole_` and `members_` refer to
  std::vector<JsonMember> members_;
  ChromeEvent whole_;
};

// Reasons of Loss.
const char* reason_without_time(NumberText text);      ///< why an invalid time cannot be used
const char* reason_without_duration(NumberText text);  ///< why an invalid duration cannot be used
const char* reason_to_leave_out(char phase);           ///< why an event of this phase is not on a thread
extern const char* const kReasonUnpaired;
extern const char* const kReasonWithoutPhase;

/// Decodes the events of one document: their times, their pairs of begin and end, and what is lost. The consumer has
///   take(const ChromeEvent&)          an event on a thread
///   take_metadata(const JsonEvent&)   the name of a process or thread (phase M)
///   lose(const char* reason, n)       n events that cannot be used
///   leave_out(const char* reason)     an event that is not on a thread
template <typename Consumer>
class ChromeDecoder {
 public:
  /// Times count from `origin`. If it is not set, the first event on a thread sets it.
  ChromeDecoder(Consumer& consumer, TimeOrigin& origin) : consumer_(consumer), origin_(origin) {}

  void take(const JsonEvent& event, const JsonEventBatch& batch) {
    ++(event.phase == '\0' ? other_count_ : phase_count_);
    if (!is_on_thread(event.phase)) return take_other(event);
    const std::optional<Picoseconds> time = time_of(event);
    if (!time) return;
    if (event.phase == 'B') return open_.begin(event, *time);
    if (event.phase == 'E') return take_end(event, *time);
    const std::optional<Picoseconds> duration = event.phase == 'X' ? duration_of(event) : 0;
    if (!duration) return;
    consumer_.take(ChromeEvent{event.process, event.thread, event.name, *time, *duration, batch.arguments_of(event)});
  }

  /// Ends the document.
  void finish() {
    if (const std::uint64_t open = open_.size(); open > 0) consumer_.lose(kReasonUnpaired, open);
  }

  std::uint64_t phase_count() const { return phase_count_; }        ///< objects with a phase
  std::uint64_t metadata_count() const { return metadata_count_; }  ///< of these, metadata events
  std::uint64_t other_count() const { return other_count_; }        ///< objects without a phase

 private:
  void take_other(const JsonEvent& event) {
    if (event.phase == 'M') {
      ++metadata_count_;
      return consumer_.take_metadata(event);
    }
    if (event.phase == '\0') return consumer_.lose(kReasonWithoutPhase, 1);
    consumer_.leave_out(reason_to_leave_out(event.phase));
  }

  void take_end(const JsonEvent& event, Picoseconds end) {
    const ChromeEvent* const begun = open_.end(event);
    if (begun == nullptr) return consumer_.lose(kReasonUnpaired, 1);
    ChromeEvent whole = *begun;
    if (__builtin_sub_overflow(end, whole.start, &whole.duration)) return consumer_.lose(kOutsideTimeRange, 1);
    consumer_.take(whole);
  }

  std::optional<Picoseconds> time_of(const JsonEvent& event) {
    const bool is_valid = event.start_text == NumberText::valid;
    const std::optional<Picoseconds> time = is_valid ? origin_.since(event.start) : std::nullopt;
    if (!time) consumer_.lose(is_valid ? kOutsideTimeRange : reason_without_time(event.start_text), 1);
    return time;
  }

  std::optional<Picoseconds> duration_of(const JsonEvent& event) {
    const bool is_valid = event.duration_text == NumberText::valid;
    const std::optional<Picoseconds> duration = is_valid ? to_picoseconds(event.duration, 0) : std::nullopt;
    if (!duration) consumer_.lose(is_valid ? kOutsideTimeRange : reason_without_duration(event.duration_text), 1);
    return duration;
  }

  Consumer& consumer_;
  TimeOrigin& origin_;
  OpenChromeEvents open_;
  std::uint64_t phase_count_ = 0;
  std::uint64_t metadata_count_ = 0;
  std::uint64_t other_count_ = 0;
};

/// Adds what was lost around the events of a document to `loss`, with a note for a person if the document ends too
/// early. `event_count` is the number of events with a time that were read from it.
void add_document_loss(const JsonDocument& document, const ByteSource& source, std::uint64_t event_count, Loss& loss);

/// Adds to `loss` that TensorFlow's or JAX's profiler cut the document. Only the number of its events shows that: the
/// profiler writes those that begin first, 1,000,000 or as many as the variable TF_PROFILER_TRACE_VIEWER_MAX_EVENTS
/// says. `event_count` excludes the events that name processes and threads.
void add_profiler_cut(const ByteSource& source, std::uint64_t event_count, Loss& loss);

/// The reason why a document yields no trace at all; nullopt if it does. An empty array of events is an empty trace,
/// not an error. The counts are those of ChromeDecoder.
std::optional<Error> reason_not_a_trace(const JsonDocument& document, const ByteSource& source,
                                        std::uint64_t phase_count, std::uint64_t other_count);

}  // namespace doctor
