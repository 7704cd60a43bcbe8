#include "tree/iterator_forest.h"

namespace doctor {

std::optional<std::int64_t> number_attribute(const Trace& trace, const LogicalIterator& iterator,
                                             std::string_view name) {
  for (const Attribute& attribute : iterator.attributes) {
    if (attribute.is_number && trace.strings[attribute.name] == name) return attribute.number;
  }
  return std::nullopt;
}

}  // namespace doctor
