#include "diagnose/threshold.h"

#include <stdexcept>

namespace doctor {

ThresholdValues::ThresholdValues(std::span<const Threshold> defaults,
                                 const std::map<std::string, double, std::less<>>& settings) {
  for (const Threshold& threshold : defaults) {
    const auto set = settings.find(threshold.name);
    values_.emplace(threshold.name, set == settings.end() ? threshold.value : set->second);
  }
}

double ThresholdValues::operator[](std::string_view name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) throw std::logic_error("a rule asks for a threshold that it does not declare");
  return found->second;
}

ThresholdValues values_in_force(std::string_view rule, std::span<const Threshold> defaults,
                                const ThresholdSettings& settings) {
  static const ThresholdSettings::mapped_type kNone;
  const auto set = settings.find(rule);
  return {defaults, set == settings.end() ? kNone : set->second};
}

}  // namespace doctor
