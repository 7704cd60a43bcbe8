#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/chrome/chrome_events.h"
#include "trace/chrome/chrome_threads.h"
#include "trace/event_reader.h"
#include "trace/timeline/timeline_repeats.h"

namespace doctor {

/// A line of a Chrome trace. Its plane may not be numbered yet.
struct ChromeLine {
  EventLine line;
  EventPlane* plane = nullptr;  ///< never null; the plane of the line
};

/// The lines and planes of a Chrome trace whose names are all known. Each is made when it is first asked for. Several
/// threads may ask at once, and the results stay valid as long as this object.
class ChromeLines {
 public:
  ChromeLines(ChromeThreads& threads, WantedPlanes wanted)
      : threads_(threads), wanted_(wanted), takes_all_(wanted == WantedPlanes::all && !threads.has_annotations()) {}

  /// Tests whether events of this process are to be handed on.
  bool is_wanted(std::uint64_t process) { return takes_all_ || is_among_wanted(process); }

  ChromeLine& line_of(std::uint64_t process, std::uint64_t thread);

  /// Gives the line and its plane their indices, unless they have them. Only one thread calls this, in the order of the
  /// events. Others may use the line meanwhile, but not read an index.
  void number(ChromeLine& line);

 private:
  bool is_among_wanted(std::uint64_t process);
  EventPlane& plane_of(ChromeProcess& process);

  std::mutex mutex_;  ///< guards everything but what number() counts
  ChromeThreads& threads_;
  const WantedPlanes wanted_;
  const bool takes_all_;
  std::deque<EventPlane> planes_;
  std::deque<ChromeLine> lines_;  ///< indexed by ChromeThread::lane
  std::size_t plane_count_ = 0;   ///< planes that have an index
  std::size_t line_count_ = 0;    ///< lines that have an index
};

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
