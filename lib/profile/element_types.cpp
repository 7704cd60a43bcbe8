#include "profile/element_types.h"

#include <string_view>

namespace doctor {

namespace {

constexpr std::string_view kIterator = "Iterator::";

}  // namespace

EventUse ElementTypesBuilder::use_of(std::string_view name) const {
  return name.starts_with(kIterator) ? EventUse{true, kElementType} : EventUse{false, 0};
}

void ElementTypesBuilder::take(const TraceEvent& event) {
  if (!event.name.starts_with(kIterator)) return;
  std::string_view node;
  std::string_view shapes;
  std::string_view types;
  std::uint32_t node_number = 0;
  Saying saying;
  for (const EventArgument& argument : event.arguments) {
    if ((argument.groups & kElementType) == 0 || argument.type != ArgumentType::text) continue;
    if (argument.name == "name") {
      node = argument.text;
      node_number = argument.text_number;
    } else if (argument.name == "shapes") {
      shapes = argument.text;
      saying.shapes = argument.text_number;
    } else if (argument.name == "types") {
      types = argument.text;
      saying.types = argument.text_number;
    }
  }
  if (node.empty() || shapes.empty() || is_known(node_number, saying)) return;
  const auto known = types_.find(node);
  if (known == types_.end()) {
    types_.emplace(node, ElementType{std::string(shapes), std::string(types)});
  } else if (known->second.shapes != shapes || known->second.types != types) {
    // Two pipelines have a node of this name.
    known->second = {};
  }
}

/// Whether the last event of this node said the same, which it then need not say again.
bool ElementTypesBuilder::is_known(std::uint32_t node, Saying saying) {
  if (node == 0 || saying.shapes == 0 || saying.types == 0 || node >= kMostSeen) return false;
  if (node >= seen_.size()) seen_.resize(node + 1);
  const bool is_same = seen_[node].shapes == saying.shapes && seen_[node].types == saying.types;
  seen_[node] = saying;
  return is_same;
}

}  // namespace doctor
