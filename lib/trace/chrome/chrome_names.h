#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/short_text.h"
#include "trace/event_kind.h"
#include "trace/trace_builder.h"

namespace doctor {

/// The properties of an event that follow from its name.
struct ChromeName {
  std::string text;
  EventKind kind = EventKind::other;  ///< see classify_event()
  std::string_view framework;         ///< see framework_of_event()
  std::uint16_t length = 0;           ///< see name_length_of()
  /// LaneEvent::subject of an event of the kind `subject_of`, once it has been asked for.
  std::optional<StringId> subject;
  EventKind subject_of = EventKind::other;
};

/// The names that were met last. A file has few, and comparing each event's name with all known words would take a
/// tenth of the time of reading. It belongs to one builder, whose string ids it remembers.
class ChromeNames {
 public:
  ChromeNames();

  /// The entry of a name. The reference is valid until the next call.
  ChromeName& find(std::string_view text) {
    ChromeName& name = names_[text.size() > kLongest ? kMostNames : place_of(text)];
    if (!is_same_text(name.text, text)) name = understood(text);
    return name;
  }

  /// LaneEvent::subject of an event of this name that is an iterator, an op or a frame of next().
  static StringId subject_of(ChromeName& name, EventKind kind, TraceBuilder& builder);

 private:
  // A limit, because a hostile file may have any number of names of any length.
  static constexpr std::size_t kMostNames = 256;
  static constexpr std::size_t kLongest = 1024;

  static std::size_t place_of(std::string_view text);
  static ChromeName understood(std::string_view text);

  std::vector<ChromeName> names_;  ///< placed by hash; the last one is for names of more than kLongest bytes
};

}  // namespace doctor
