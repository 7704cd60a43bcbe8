#include "profile/element_types.h"

#include <string_view>

namespace doctor {

void ElementTypesBuilder::take(const TraceEvent& event) {
  if (!event.name.starts_with("Iterator::")) return;
  std::string_view node;
  std::string_view shapes;
  std::string_view types;
  for (const EventArgument& argument : event.arguments) {
    if (argument.type != ArgumentType::text) continue;
    if (argument.name == "name") node = argument.text;
    if (argument.name == "shapes") shapes = argument.text;
    if (argument.name == "types") types = argument.text;
  }
  if (node.empty() || shapes.empty()) return;
  const auto known = types_.find(node);
  if (known == types_.end()) {
    types_.emplace(node, ElementType{std::string(shapes), std::string(types)});
  } else if (known->second.shapes != shapes || known->second.types != types) {
    // Two pipelines have a node of this name.
    known->second = {};
  }
}

}  // namespace doctor
