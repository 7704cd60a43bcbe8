#include "trace/chrome/chrome_arguments.h"

#include "base/short_text.h"
#include "trace/chrome/json_number.h"

namespace doctor {
namespace {

std::string_view text_of(const JsonMember& member, std::string& scratch) {
  return member.is_string ? unescape_json(member.value, scratch) : std::string_view{};
}

/// Whether events of this kind carry arguments that are used.
bool uses_arguments(EventKind kind) {
  switch (kind) {
    case EventKind::other:  // may turn out to be an op or a step
    case EventKind::iterator:
    case EventKind::captured_function:
    case EventKind::produce:
    case EventKind::consume:
    case EventKind::executor:
    case EventKind::step:
    case EventKind::region_queued:
    case EventKind::region_start:
      return true;
    case EventKind::get_next:
    case EventKind::make_iterator:
    case EventKind::python_call:
    case EventKind::eager_execute:
    case EventKind::region_stop:
    case EventKind::release:
    case EventKind::op:
    case EventKind::next_frame:
    case EventKind::queue_frame:
    case EventKind::batch_ready:
    case EventKind::item_frame:
    case EventKind::program_run:
    case EventKind::compilation:
    case EventKind::output:
      return false;
  }
  return false;
}

}  // namespace

ChromeArgumentDecoder::Role ChromeArgumentDecoder::role_of(std::string_view key) {
  if (key == "id") return Role::id;
  if (key == "parent_id") return Role::parent_id;
  if (key == "element_id") return Role::element_id;
  if (key == "long_name") return Role::long_name;
  if (key == "name") return Role::dataset_name;
  if (key == "step_num") return Role::step_number;
  // The context ids of a TraceMeProducer and of its TraceMeConsumer, which TF and XProf keep to themselves.
  if (key == "_p" || key == "_c") return Role::closure;
  return is_iterator_attribute(key) ? Role::attribute : Role::none;
}

// Inlined by force into the loop over an event's arguments, as take() is.
inline const ChromeArgumentDecoder::LikelyKey& ChromeArgumentDecoder::likely_key(std::string_view key,
                                                                                 TraceBuilder& builder) {
  // Nearly all keys of a file differ in their size or in their first, middle or last character ("_pt", "_ct",
  // "buffered_elements", "buffered_bytes_MB").
  const auto character = [&](std::size_t index) -> std::size_t {
    return key.empty() ? 0 : static_cast<unsigned char>(key.data()[index]);
  };
  const std::size_t mixed =
      key.size() * 9 + character(0) + character(key.size() / 2) * 7 + character(key.size() - 1) * 5;
  LikelyKey& likely = likely_keys_[mixed % kPlaces];
  if (!is_same_text(likely.text, key)) search_key(key, likely, builder);
  return likely;
}

/// Of a key beyond kMostKeys nothing is remembered but what it means now.
void ChromeArgumentDecoder::search_key(std::string_view key, LikelyKey& likely, TraceBuilder& builder) {
  for (const KnownKey& known : known_keys_) {
    if (known.text != key) continue;
    likely = {known.text, known.meaning};
    return;
  }
  likely = {{}, {role_of(key), {}}};
  if (likely.meaning.role == Role::attribute) likely.meaning.name = builder.intern(key);
  if (known_keys_.size() < kMostKeys) known_keys_.push_back({std::string(key), likely.meaning});
}

Attribute ChromeArgumentDecoder::attribute_of(StringId name, const JsonMember& member, TraceBuilder& builder) {
  Attribute attribute;
  attribute.name = name;
  if (const std::optional<std::int64_t> number = parse_integer(member.value)) {
    attribute.is_number = true;
    attribute.number = *number;
  } else {
    attribute.text = values_.intern(unescape_json(member.value, attribute_text_), builder.trace().strings);
  }
  return attribute;
}

inline void ChromeArgumentDecoder::take(const JsonMember& member, EventKind kind, TraceBuilder& builder) {
  const LikelyKey& key = likely_key(member.key, builder);
  const bool is_iterator = kind == EventKind::iterator;
  switch (key.meaning.role) {
    case Role::id:
      arguments_.id = parse_token(member.value);
      break;
    case Role::parent_id:
      if (is_iterator) arguments_.parent_id = parse_token(member.value);
      break;
    case Role::element_id:
      arguments_.element_id = parse_token(member.value);
      break;
    case Role::long_name:
      arguments_.long_name = text_of(member, long_name_text_);
      break;
    case Role::dataset_name:
      if (is_iterator) arguments_.dataset_name = text_of(member, dataset_name_text_);
      break;
    case Role::step_number:
      arguments_.step_number = parse_integer(member.value);
      break;
    case Role::closure:
      if (kind == EventKind::region_queued || kind == EventKind::region_start) {
        arguments_.closure = parse_token(member.value).value_or(0);
      }
      break;
    case Role::attribute:
      if (is_iterator) arguments_.attributes.push_back(attribute_of(key.meaning.name, member, builder));
      break;
    case Role::none:
      break;
  }
}

void ChromeArgumentDecoder::decode_anew(std::span<const JsonMember> members, EventKind kind, TraceBuilder& builder) {
  std::vector<Attribute> attributes = std::move(arguments_.attributes);
  attributes.clear();
  arguments_ = {};
  arguments_.attributes = std::move(attributes);
  for (const JsonMember& member : members) take(member, kind, builder);
}

/// Of arguments that are worth comparing: not too few, nor as many as only a hostile file has. Empty for others.
std::string_view ChromeArgumentDecoder::whole_text(std::span<const JsonMember> members) {
  constexpr std::size_t kShortest = 64;
  constexpr std::size_t kLongest = 1'024;
  if (members.empty()) return {};
  const char* const begin = members.front().key.data();
  const std::string_view last = members.back().value;
  const auto size = static_cast<std::size_t>(last.data() + last.size() - begin);
  return size >= kShortest && size <= kLongest ? std::string_view(begin, size) : std::string_view{};
}

/// By some of its words, among which are parts of an id or a name.
std::size_t ChromeArgumentDecoder::place_of(std::string_view text) {
  constexpr std::uint64_t kSpread = 0x9e37'79b9'7f4a'7c15u;
  constexpr std::size_t kWords = 6;
  std::uint64_t mixed = text.size();
  const std::size_t stride = text.size() / (kWords + 1);
  for (std::size_t word = 1; word <= kWords; ++word) mixed = (mixed ^ load_word(text.data() + word * stride)) * kSpread;
  return static_cast<std::size_t>(mixed >> 32) % kMostRepeated;
}

void ChromeArgumentDecoder::keep(std::string_view text, const ChromeArguments& arguments, Repeated& kept) {
  kept.text = text;
  kept.long_name = arguments.long_name;
  kept.dataset_name = arguments.dataset_name;
  kept.arguments = arguments;
  kept.arguments.long_name = kept.long_name;
  kept.arguments.dataset_name = kept.dataset_name;
}

const ChromeArguments& ChromeArgumentDecoder::decode(std::span<const JsonMember> members, EventKind kind,
                                                     TraceBuilder& builder) {
  latest_ = &arguments_;
  if (!uses_arguments(kind)) members = {};
  const std::string_view text = kind == EventKind::iterator ? whole_text(members) : std::string_view{};
  if (text.empty()) {
    decode_anew(members, kind, builder);
    return arguments_;
  }
  Repeated& likely = repeated_[place_of(text)];
  if (likely.text == text) {
    latest_ = &likely.arguments;
    return likely.arguments;
  }
  const std::uint64_t refused = builder.trace().strings.refused();
  decode_anew(members, kind, builder);
  // What the table refuses is counted each time.
  if (builder.trace().strings.refused() == refused) keep(text, arguments_, likely);
  return arguments_;
}

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
