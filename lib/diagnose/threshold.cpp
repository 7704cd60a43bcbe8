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

}  // namespace doctor
