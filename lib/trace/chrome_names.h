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

/// What the name of an event says by itself.
struct ChromeName {
  std::string text;
  EventKind kind = EventKind::other;  ///< see classify_event()
  std::string_view framework;         ///< see framework_of_event()
  std::uint16_t length = 0;           ///< see name_length_of()
  /// LaneEvent::subject of an event of the kind `subject_of`, once it was asked for.
  std::optional<StringId> subject;
  EventKind subject_of = EventKind::other;
};

/// The names that were met last. A file has few, and asking each event for all words that a name may have would be a
/// tenth of reading it. Belongs to one builder, whose string ids it remembers.
class ChromeNames {
 public:
  ChromeNames();

  /// A reference that stays valid until the next name is looked for.
  ChromeName& find(std::string_view text) {
    ChromeName& name = names_[text.size() > kLongest ? kMostNames : place_of(text)];
    if (!is_same_text(name.text, text)) name = understood(text);
    return name;
  }

  /// LaneEvent::subject of an event of this name that is an iterator, an op or a frame of next().
  static StringId subject_of(ChromeName& name, EventKind kind, TraceBuilder& builder);

 private:
  // A hostile file has any number of names of any length.
  static constexpr std::size_t kMostNames = 256;
  static constexpr std::size_t kLongest = 1024;

  static std::size_t place_of(std::string_view text);
  static ChromeName understood(std::string_view text);

  std::vector<ChromeName> names_;  ///< by a hash; then one of more than kLongest bytes
};

}  // namespace doctor
