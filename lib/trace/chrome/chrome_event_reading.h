#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/chrome/chrome_events.h"
#include "trace/chrome/chrome_lines.h"
#include "trace/event_reader.h"
#include "trace/timeline/timeline_repeats.h"

namespace doctor {

enum class Dialect : std::uint8_t { chrome, tf1_timeline };

/// A document whose names are known: shared by everything that decodes its events.
struct NamedDocument {
  NamedDocument(ChromeThreads& threads, const TimeOrigin& its_origin, const TimelineRepeats& its_repeats,
                Dialect its_dialect, WantedPlanes wanted)
      : origin(its_origin), repeats(its_repeats), dialect(its_dialect), lines(threads, wanted) {}

  const TimeOrigin& origin;
  const TimelineRepeats& repeats;  ///< repeats in a TF1 timeline; empty for others
  const Dialect dialect;
  ChromeLines lines;
};

/// Decodes the arguments of one event after another. Views live until the next event.
class ArgumentReader {
 public:
  void begin() {
    arguments_.clear();
    used_texts_ = 0;
  }
  void add(const JsonMember& member);

  /// The text argument of this name; empty if there is none.
  std::string_view text_of(std::string_view name) const;
  void remove(std::string_view name) {
    std::erase_if(arguments_, [&](const EventArgument& argument) { return argument.name == name; });
  }
  /// A new text that lives as long as the arguments.
  std::string& new_text() {
    if (used_texts_ == texts_.size()) texts_.emplace_back();
    return texts_[used_texts_++];
  }
  std::span<const EventArgument> arguments() const { return arguments_; }

 private:
  std::string_view unescape(std::string_view raw) {
    return raw.find('\\') == std::string_view::npos ? raw : unescape_json(raw, new_text());
  }

  std::vector<EventArgument> arguments_;
  std::deque<std::string> texts_;  ///< reused from event to event
  std::size_t used_texts_ = 0;
};

/// Decodes events, one after another, and hands them to a sink.
class EventReading {
 public:
  explicit EventReading(NamedDocument& document) : document_(document), origin_(document.origin) {}

  /// Sets where events go from here on. `met_lines` receives the lines of the events, without immediate repeats; if it
  /// is null, lines are numbered instead.
  void hand_to(EventSink& sink, std::vector<ChromeLine*>* met_lines) {
    sink_ = &sink;
    met_lines_ = met_lines;
    line_ = nullptr;
  }
  bool is_wanted(const JsonEvent& event) {
    if (event.process == asked_process_) return is_asked_wanted_;
    asked_process_ = event.process;
    return is_asked_wanted_ = document_.lines.is_wanted(event.process);
  }
  void add(const JsonEvent& event, const JsonEventBatch& batch) { decoder_.take(event, batch); }
  OpenChromeEvents& open() { return decoder_.open(); }
  /// Ends the document.
  void finish() { decoder_.finish(); }
  /// The totals since the last call.
  EventTotals take_totals() { return std::exchange(totals_, {}); }

  // The consumer's part of ChromeDecoder.
  void take(const ChromeEvent& event);
  void take_metadata(const JsonEvent& /*event*/) {}  // the first reading took the metadata
  void lose(const char* reason, std::uint64_t count) {
    totals_.event_count += count;
    totals_.loss.add(reason, count);
  }
  void leave_out(const char* reason) { lose(reason, 1); }

 private:
  void name_event(std::string_view name, TraceEvent& event);
  const EventLine& line_of(const ChromeEvent& event);
  ChromeLine& known_line(std::uint64_t process, std::uint64_t thread);

  struct KnownLine {
    std::uint64_t process = 0;
    std::uint64_t thread = 0;
    ChromeLine* line = nullptr;  ///< null: no line is known yet
  };

  NamedDocument& document_;
  TimeOrigin origin_;  ///< a copy: since() may set it, and other threads have copies of their own
  ChromeDecoder<EventReading> decoder_{*this, origin_};
  ArgumentReader arguments_;
  EventTotals totals_;
  EventSink* sink_ = nullptr;
  std::vector<ChromeLine*>* met_lines_ = nullptr;
  std::array<KnownLine, 64> known_lines_;  ///< placed by hash, so that few lookups need the lock
  // The line of the last event.
  const EventLine* line_ = nullptr;
  std::uint64_t line_process_ = 0;
  std::optional<std::uint64_t> asked_process_;
  bool is_asked_wanted_ = false;
};

}  // namespace doctor
