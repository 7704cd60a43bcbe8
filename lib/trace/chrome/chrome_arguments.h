#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/short_text.h"
#include "trace/chrome/json_text.h"
#include "trace/event_kind.h"
#include "trace/string_table.h"
#include "trace/trace_builder.h"

namespace doctor {

/// Interns short texts that come again and again, such as values of attributes, without hashing each in full. It
/// belongs to one table.
class RecentStrings {
 public:
  StringId intern(std::string_view text, StringTable& strings) {
    constexpr std::uint64_t kSpread = 0x9e37'79b9'7f4a'7c15u;
    if (text.size() > kLongest) return strings.intern(text);
    constexpr std::size_t kWord = sizeof(std::uint64_t);
    std::uint64_t mixed = leading_word(text) + text.size();
    if (text.size() > kWord) mixed ^= 3 * load_word(text.data() + text.size() - kWord);
    Recent& recent = recent_[mixed * kSpread >> 58];
    if (recent.id && is_same_text(recent.text, text)) return *recent.id;
    const std::uint64_t refused = strings.refused();
    const StringId id = strings.intern(text);
    // A text that the table refuses is not remembered, so that each occurrence is counted.
    if (strings.refused() == refused) recent = {std::string(text), id};
    return id;
  }

 private:
  static constexpr std::size_t kLongest = 64;
  struct Recent {
    std::string text;
    std::optional<StringId> id;
  };
  std::array<Recent, 64> recent_;  ///< placed by hash
};

/// The arguments of an event that the diagnosis uses. Views live until the next decode().
struct ChromeArguments {
  std::string_view long_name;
  std::string_view dataset_name;
  std::optional<std::uint64_t> id;
  std::optional<std::uint64_t> parent_id;
  std::optional<std::uint64_t> element_id;
  std::optional<std::int64_t> step_number;
  std::uint64_t closure = 0;          ///< id of a closure in a thread pool's queue; 0 if there is none
  std::vector<Attribute> attributes;  ///< attributes of an iterator
};

/// Decodes `args` objects. TF writes every value as a string, other writers write numbers as numbers: both are read. A
/// decoder belongs to one builder, whose string ids it remembers.
class ChromeArgumentDecoder {
 public:
  ChromeArgumentDecoder() = default;
  ChromeArgumentDecoder(const ChromeArgumentDecoder&) = delete;
  ChromeArgumentDecoder& operator=(const ChromeArgumentDecoder&) = delete;

  /// Decodes the arguments that events of `kind` use. Attribute names and texts are interned. `members` are views of
  /// one text, in its order.
  const ChromeArguments& decode(std::span<const JsonMember> members, EventKind kind, TraceBuilder& builder);
  /// The result of the last decode().
  const ChromeArguments& latest() const { return *latest_; }

 private:
  enum class Role : std::uint8_t {
    none,
    id,
    parent_id,
    element_id,
    long_name,
    dataset_name,
    step_number,
    closure,
    attribute
  };

  struct Meaning {
    Role role = Role::none;
    StringId name{};  ///< name of an attribute
  };

  /// A key that occurred before. A file has few, and every event repeats them.
  struct KnownKey {
    std::string text;
    Meaning meaning;
  };

  /// A known key in the table that is searched first. A place with an empty text is free.
  struct LikelyKey {
    std::string_view text;
    Meaning meaning;
  };

  /// The arguments of an iterator's event, which its next event nearly always repeats word for word.
  struct Repeated {
    std::string text;           ///< from the first key to the last value; empty: the place is free
    ChromeArguments arguments;  ///< views into `text`:
    std::string long_name;
    std::string dataset_name;
  };

  static constexpr std::size_t kMostRepeated = 64;
  static constexpr std::size_t kMostKeys = 64;  ///< a hostile file may have any number of keys
  static constexpr std::size_t kPlaces = 4 * kMostKeys;

  static std::string_view whole_text(std::span<const JsonMember> members);
  static std::size_t place_of(std::string_view text);
  void decode_anew(std::span<const JsonMember> members, EventKind kind, TraceBuilder& builder);
  static void keep(std::string_view text, const ChromeArguments& arguments, Repeated& kept);
  static Role role_of(std::string_view key);
  const LikelyKey& likely_key(std::string_view key, TraceBuilder& builder);
  void search_key(std::string_view key, LikelyKey& likely, TraceBuilder& builder);
  Attribute attribute_of(StringId name, const JsonMember& member, TraceBuilder& builder);
  void take(const JsonMember& member, EventKind kind, TraceBuilder& builder);

  std::deque<KnownKey> known_keys_;               ///< at most kMostKeys
  std::array<LikelyKey, kPlaces> likely_keys_{};  ///< some of known_keys_, placed by hash
  RecentStrings values_;
  std::vector<Repeated> repeated_{kMostRepeated};  ///< placed by hash
  ChromeArguments arguments_;
  const ChromeArguments* latest_ = &arguments_;
  std::string long_name_text_;
  std::string dataset_name_text_;
  std::string attribute_text_;
};

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
