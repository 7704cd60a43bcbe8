#include "trace/chrome_arguments.h"

#include "base/short_text.h"
#include "trace/json_number.h"

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
[[gnu::always_inline]] inline ChromeArgumentDecoder::LikelyKey& ChromeArgumentDecoder::likely_key(
    std::string_view key, TraceBuilder& builder) {
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
    likely = {known.text, known.meaning, {}, 0};
    return;
  }
  likely = {{}, {role_of(key), {}}, {}, 0};
  if (likely.meaning.role == Role::attribute) likely.meaning.name = builder.intern(key);
  if (known_keys_.size() < kMostKeys) known_keys_.push_back({std::string(key), likely.meaning});
}

/// Events repeat the numbers of their attributes: most are not read again.
Attribute ChromeArgumentDecoder::attribute_of(LikelyKey& key, const JsonMember& member, TraceBuilder& builder) {
  constexpr std::size_t kLongestInteger = 20;  // with its sign
  Attribute attribute;
  attribute.name = key.meaning.name;
  attribute.is_number = true;
  if (!key.number_text.empty() && is_same_text(key.number_text, member.value)) {
    attribute.number = key.number;
  } else if (const std::optional<std::int64_t> number = parse_integer(member.value)) {
    attribute.number = *number;
    if (member.value.size() <= kLongestInteger) {
      key.number_text = member.value;
      key.number = *number;
    }
  } else {
    attribute.is_number = false;
    attribute.text = values_.intern(unescape_json(member.value, attribute_text_), builder.trace().strings);
  }
  return attribute;
}

[[gnu::always_inline]] inline void ChromeArgumentDecoder::take(const JsonMember& member, EventKind kind,
                                                               TraceBuilder& builder) {
  LikelyKey& key = likely_key(member.key, builder);
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
      if (is_iterator) arguments_.attributes.push_back(attribute_of(key, member, builder));
      break;
    case Role::none:
      break;
  }
}

const ChromeArguments& ChromeArgumentDecoder::decode(std::span<const JsonMember> members, EventKind kind,
                                                     TraceBuilder& builder) {
  std::vector<Attribute> attributes = std::move(arguments_.attributes);
  attributes.clear();
  arguments_ = {};
  arguments_.attributes = std::move(attributes);
  if (!uses_arguments(kind)) return arguments_;
  for (const JsonMember& member : members) take(member, kind, builder);
  return arguments_;
}

}  // namespace doctor
