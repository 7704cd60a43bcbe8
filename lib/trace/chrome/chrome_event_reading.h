#pragma once

#include <array>

#include "base/short_text.h"
#include "trace/chrome/chrome_events.h"
#include "trace/chrome/chrome_threads.h"
#include "trace/event_reader.h"
#include "trace/timeline/timeline_repeats.h"

namespace doctor {

/// The lines and planes of a Chrome trace. Each is made when it is first asked for, and stays valid as long as this
/// object.
class ChromeLines {
 public:
  ChromeLines(ChromeThreads& threads, WantedPlanes wanted) : threads_(threads), wanted_(wanted) {}

  /// Tests whether events of this process are to be read.
  bool is_wanted(std::uint64_t process) {
    return (wanted_ != WantedPlanes::devices && !threads_.has_annotations()) || is_among_wanted(process);
  }

  /// Takes a metadata event (phase M), where names are learned on the way.
  void learn(const JsonEvent& event);

  const EventLine& line_of(std::uint64_t process, std::uint64_t thread);

 private:
  bool is_among_wanted(std::uint64_t process);
  const EventPlane& plane_of(ChromeProcess& process);

  ChromeThreads& threads_;
  const WantedPlanes wanted_;
  std::deque<EventPlane> planes_;
  std::deque<EventLine> lines_;  ///< indexed by ChromeThread::lane
};

enum class Dialect : std::uint8_t { chrome, tf1_timeline };

/// What is known of a document before its first event.
struct DocumentFacts {
  Dialect dialect = Dialect::chrome;
  bool learns_names = false;  ///< `threads` and `origin` are learned on the way
  ChromeThreads& threads;
  const TimeOrigin& origin;
  const TimelineRepeats& repeats;  ///< repeats in a TF1 timeline; empty for others
};

/// Decodes the arguments of one event after another. Views live until the next event.
class ArgumentReader {
 public:
  void begin() {
    arguments_.clear();
    used_texts_ = 0;
  }
  void add(const JsonMember& member) { add(unescape(member.key), kAllArguments, member); }
  void add(std::string_view name, ArgumentGroups groups, const JsonMember& member);

  /// The text argument of this name; empty if there is none.
  std::string_view text_of(std::string_view name) const;
  /// A new text that lives as long as the arguments.
  std::string& new_text() {
    if (used_texts_ == texts_.size()) texts_.emplace_back();
    return texts_[used_texts_++];
  }
  std::span<const EventArgument> arguments() const { return arguments_; }

  std::string_view unescape(std::string_view raw) {
    return raw.find('\\') == std::string_view::npos ? raw : unescape_json(raw, new_text());
  }

 private:
  std::vector<EventArgument> arguments_;
  std::deque<std::string> texts_;  ///< reused from event to event
  std::size_t used_texts_ = 0;
};

/// What a sink uses, asked once for each of the names and keys that come again and again. A file has few: to understand
/// each event's name anew would take a tenth of the time of reading.
class KnownUses {
 public:
  explicit KnownUses(EventSink& sink) : sink_(sink), names_(kMostNames + 1) {}

  /// The use of events of this name.
  EventUse use_of(std::string_view text);

  /// An argument's key as it stands in the file.
  struct Key {
    std::string raw;
    std::string name;  ///< without escapes
    ArgumentGroups groups = 0;
    ArgumentGroups device_groups = 0;
  };
  /// Valid until the next call, unless it is_kept().
  const Key& key(std::string_view raw) {
    const Key*& likely = likely_[place_of(raw)];
    if (likely == nullptr || !is_same_text(likely->raw, raw)) likely = &search(raw);
    return *likely;
  }
  bool is_kept(const Key& key) const { return &key != &other_key_; }

 private:
  struct Name {
    std::string text;
    EventUse use;
    bool is_known = false;
  };

  // Limits, because a hostile file may have any number of names and keys of any length.
  static constexpr std::size_t kMostNames = 256;
  static constexpr std::size_t kLongestName = 1024;
  static constexpr std::size_t kMostKeys = 64;
  static constexpr std::size_t kPlaces = 4 * kMostKeys;

  /// Nearly all keys of a file differ in their size or in their first, middle or last character ("_pt", "_ct",
  /// "buffered_elements", "buffered_bytes_MB").
  static std::size_t place_of(std::string_view key) {
    const auto character = [&](std::size_t index) -> std::size_t {
      return key.empty() ? 0 : static_cast<unsigned char>(key.data()[index]);
    };
    return (key.size() * 9 + character(0) + character(key.size() / 2) * 7 + character(key.size() - 1) * 5) % kPlaces;
  }
  const Key& search(std::string_view raw);

  EventSink& sink_;
  std::vector<Name> names_;  ///< placed by hash; the last one is for names of more than kLongestName bytes
  std::deque<Key> keys_;     ///< at most kMostKeys
  Key other_key_;            ///< the last one beyond these
  std::array<const Key*, kPlaces> likely_{};
};

/// Decodes events, one after another, and hands those that it uses to a sink.
class EventReading {
 public:
  EventReading(const DocumentFacts& document, WantedPlanes planes, EventSink& sink)
      : document_(document),
        is_for_trace_(planes == WantedPlanes::hosts),
        sink_(sink),
        uses_(sink),
        lines_(document.threads, planes),
        origin_(document.origin) {}

  void add(const JsonEvent& event, const JsonEventBatch& batch) {
    if (is_wanted(event)) decoder_.take(event, batch);
  }
  const ChromeDecoder<EventReading>& decoder() const { return decoder_; }
  const TimeOrigin& origin() const { return origin_; }
  /// Ends the document.
  void finish() { decoder_.finish(); }
  /// The totals since the last call.
  EventTotals take_totals() { return std::exchange(totals_, {}); }

  // The consumer's part of ChromeDecoder.
  void take(const ChromeEvent& event);
  void take_metadata(const JsonEvent& event) {
    if (!document_.learns_names) return;
    lines_.learn(event);
    asked_process_.reset();
  }
  void lose(const char* reason, std::uint64_t count) {
    totals_.event_count += count;
    totals_.loss.add(reason, count);
  }
  void leave_out(const char* reason) {
    if (!is_for_trace_) lose(reason, 1);
  }

 private:
  bool is_wanted(const JsonEvent& event) {
    if (event.phase == 'M') return true;
    if (event.process == asked_process_) return is_asked_wanted_;
    asked_process_ = event.process;
    return is_asked_wanted_ = lines_.is_wanted(event.process);
  }
  bool read_used(const ChromeEvent& event, TraceEvent& handed_on);
  void read_node(const ChromeEvent& event, TraceEvent& handed_on);
  const EventLine& line_of(const ChromeEvent& event);

  const DocumentFacts& document_;
  const bool is_for_trace_;  ///< see WantedPlanes::hosts
  EventSink& sink_;
  KnownUses uses_;
  ChromeLines lines_;
  TimeOrigin origin_;
  ChromeDecoder<EventReading> decoder_{*this, origin_};
  ArgumentReader arguments_;
  EventTotals totals_;
  // The line of the last event.
  const EventLine* line_ = nullptr;
  std::uint64_t line_process_ = 0;
  std::optional<std::uint64_t> asked_process_;
  bool is_asked_wanted_ = false;
};

}  // namespace doctor
