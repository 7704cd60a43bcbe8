#include "trace/chrome/chrome_names.h"

namespace doctor {

ChromeNames::ChromeNames() : names_(kMostNames + 1, understood({})) {}

/// Long names of iterators begin alike, and those of the elements of an interleave end alike, too; those of ops end
/// alike.
std::size_t ChromeNames::place_of(std::string_view text) {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  constexpr std::uint64_t kSpread = 0x9e37'79b9'7f4a'7c15u;
  std::uint64_t mixed = leading_word(text) + text.size();
  const char* const end = text.data() + text.size();
  if (text.size() >= kWord) mixed ^= 3 * load_word(end - kWord);
  if (text.size() >= 3 * kWord) mixed ^= 5 * load_word(end - 2 * kWord) ^ 7 * load_word(end - 3 * kWord);
  return mixed * kSpread >> 56;
}

ChromeName ChromeNames::understood(std::string_view text) {
  ChromeName name;
  name.text = text;
  name.kind = classify_event(text);
  name.framework = framework_of_event(text);
  name.length = name_length_of(text);
  return name;
}

StringId ChromeNames::subject_of(ChromeName& name, EventKind kind, TraceBuilder& builder) {
  if (name.subject && name.subject_of == kind) return *name.subject;
  const std::uint64_t refused = builder.trace().strings.refused();
  const StringId subject = builder.intern(subject_of_event(name.text, kind));
  // What the table refuses is counted each time.
  if (builder.trace().strings.refused() == refused) {
    name.subject = subject;
    name.subject_of = kind;
  }
  return subject;
}

}  // namespace doctor
