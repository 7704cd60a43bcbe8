#include "measure/iterator_measurement.h"

#include <fmt/format.h>

namespace doctor {

std::string UserCall::method() const {
  return fmt::format("{}", fmt::join(methods, "."));
}

std::string UserCall::name() const {
  std::string joined;
  for (const std::string& name : names) {
    if (!name.empty()) joined += (joined.empty() ? "" : ", ") + name;
  }
  return joined;
}

bool IteratorMeasurement::is_of_call_of(const IteratorMeasurement& other) const {
  if (maker.empty() || other.maker != maker) return false;
  if (line() == nullptr || other.line() == nullptr) return true;
  return line()->file == other.line()->file && line()->line == other.line()->line;
}

const AttributeValue* IteratorMeasurement::find(std::string_view attribute) const {
  for (const AttributeValue& value : attributes) {
    if (value.name == attribute) return &value;
  }
  return nullptr;
}

std::optional<std::int64_t> IteratorMeasurement::number(std::string_view attribute) const {
  const AttributeValue* const value = find(attribute);
  return value == nullptr ? std::nullopt : value->number;
}

std::string_view IteratorMeasurement::text(std::string_view attribute) const {
  const AttributeValue* const value = find(attribute);
  return value == nullptr ? std::string_view() : std::string_view(value->text);
}

std::optional<bool> is_autotuned(const IteratorMeasurement& iterator) {
  const std::string_view value = iterator.text("autotune");
  if (value == "true") return true;
  if (value == "false") return false;
  return std::nullopt;
}

}  // namespace doctor
