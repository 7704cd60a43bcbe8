#include "config/toml_reader.h"

#include <algorithm>

namespace doctor {

std::string_view TomlReader::type_name(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "an array";
    case toml::node_type::string:
      return "a string";
    case toml::node_type::integer:
      return "an integer";
    case toml::node_type::floating_point:
      return "a float";
    case toml::node_type::boolean:
      return "a boolean";
    case toml::node_type::date:
      return "a date";
    case toml::node_type::time:
      return "a time";
    case toml::node_type::date_time:
      return "a date with a time";
    case toml::node_type::none:
      break;
  }
  return "nothing";
}

std::vector<Error> TomlReader::take_errors() {
  std::stable_sort(errors_.begin(), errors_.end(),
                   [](const PlacedError& a, const PlacedError& b) { return a.position < b.position; });
  std::vector<Error> errors;
  for (PlacedError& placed : errors_) errors.push_back(std::move(placed.error));
  return errors;
}

}  // namespace doctor
