#include "report/html/page_documents.h"

#include <algorithm>
#include <cmath>

#include "text/document_keys.h"

namespace doctor {

const OrderedJson* PageDocuments::find(std::string_view name) const {
  const auto found = std::find_if(documents_.begin(), documents_.end(),
                                  [&](const PageDocument& document) { return document.name == name; });
  return found == documents_.end() ? nullptr : &found->document;
}

const OrderedJson* find_value(const OrderedJson& object, std::string_view key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(std::string(key));
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

double number_of(const OrderedJson& object, std::string_view key, double otherwise) {
  return known_number(object, key).value_or(otherwise);
}

std::optional<double> known_number(const OrderedJson& object, std::string_view key) {
  const OrderedJson* const value = find_value(object, key);
  // JSON spells a number that is not finite as null.
  const bool is_known = value != nullptr && value->is_number() && std::isfinite(value->get<double>());
  return is_known ? std::optional(value->get<double>()) : std::nullopt;
}

std::string text_of(const OrderedJson& object, std::string_view key) {
  const OrderedJson* const value = find_value(object, key);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

bool is_true(const OrderedJson& object, std::string_view key) {
  const OrderedJson* const value = find_value(object, key);
  return value != nullptr && value->is_boolean() && value->get<bool>();
}

const OrderedJson& list_of(const OrderedJson& object, std::string_view key) {
  static const OrderedJson kNone = OrderedJson::array();
  const OrderedJson* const value = find_value(object, key);
  return value != nullptr && value->is_array() ? *value : kNone;
}

Picoseconds from_microseconds(double microseconds) {
  return static_cast<Picoseconds>(std::llround(microseconds * static_cast<double>(kPicosecondsPerMicrosecond)));
}

Picoseconds time_of(const OrderedJson& object, std::string_view key) {
  return from_microseconds(number_of(object, key));
}

std::string name_of_iterator(const OrderedJson& iterator) {
  const std::string name = text_of(iterator, key::name);
  return name.empty() ? text_of(iterator, key::short_name) : name;
}

bool waits_alike(double share, double other_share) {
  constexpr double kAlike = 0.1;
  return std::abs(share - other_share) <= kAlike;
}

std::string long_names_of(const OrderedJson& stages) {
  std::string names;
  for (const OrderedJson& stage : stages) names += text_of(stage, key::long_name) + "\n";
  return names;
}

}  // namespace doctor
