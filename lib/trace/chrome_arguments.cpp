#include "trace/chrome_arguments.h"

#include "trace/json_number.h"
#include "trace/json_text.h"

namespace doctor {
namespace {

std::string_view text_of(const JsonMember& member, std::string& scratch) {
  return member.is_string ? unescape_json(member.value, scratch) : std::string_view{};
}

Attribute attribute_of(const JsonMember& member, std::string& scratch, TraceBuilder& builder) {
  Attribute attribute;
  attribute.name = builder.intern(member.key);
  if (const std::optional<std::int64_t> number = parse_integer(member.value)) {
    attribute.is_number = true;
    attribute.number = *number;
  } else {
    attribute.text = builder.intern(unescape_json(member.value, scratch));
  }
  return attribute;
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
      return true;
    case EventKind::get_next:
    case EventKind::make_iterator:
    case EventKind::region_start:
    case EventKind::region_stop:
    case EventKind::op:
      return false;
  }
  return false;
}

}  // namespace

const ChromeArguments& ChromeArgumentDecoder::decode(std::string_view text, EventKind kind, TraceBuilder& builder) {
  std::vector<Attribute> attributes = std::move(arguments_.attributes);
  attributes.clear();
  arguments_ = {};
  arguments_.attributes = std::move(attributes);
  if (!uses_arguments(kind)) return arguments_;

  JsonMembers members(text);
  for (JsonMember member; members.next(member);) {
    if (member.key == "id") {
      arguments_.id = parse_token(member.value);
    } else if (member.key == "long_name") {
      arguments_.long_name = text_of(member, long_name_text_);
    } else if (member.key == "step_num") {
      arguments_.step_number = parse_integer(member.value);
    } else if (member.key == "element_id") {
      arguments_.element_id = parse_token(member.value);
    } else if (kind != EventKind::iterator) {
      continue;
    } else if (member.key == "parent_id") {
      arguments_.parent_id = parse_token(member.value);
    } else if (member.key == "name") {
      arguments_.dataset_name = text_of(member, dataset_name_text_);
    } else if (is_iterator_attribute(member.key)) {
      arguments_.attributes.push_back(attribute_of(member, attribute_text_, builder));
    }
  }
  return arguments_;
}

}  // namespace doctor
