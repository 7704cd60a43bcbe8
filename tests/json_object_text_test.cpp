#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "text/json_page.h"

namespace doctor::json_object_text_test {

TEST_CASE("an object spelled member by member is the text of the whole") {
  const std::vector<OrderedJson> values = {nullptr,
                                           "lines\nof \"text\" \x80 \xc3\xa4",
                                           1.5,
                                           OrderedJson::array(),
                                           OrderedJson::object(),
                                           {1, {2, {3, "\n"}}},
                                           {{"a", {{"b", {1, 2}}, {"c", OrderedJson::object()}}}, {"d", true}}};
  JsonObjectText spelled;
  OrderedJson whole = OrderedJson::object();
  for (std::size_t index = 0; index < values.size(); ++index) {
    const std::string key = "key \n\"" + std::to_string(index);
    spelled.add(key, values[index]);
    whole[key] = values[index];
    spelled.add_array(key + "s", index, [&](std::size_t element) { return values[element]; });
    whole[key + "s"] = std::vector<OrderedJson>(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(index));
  }
  CHECK(spelled.finish() == to_text(whole));
  CHECK(JsonObjectText().finish() == to_text(OrderedJson::object()));
}

}  // namespace doctor::json_object_text_test
