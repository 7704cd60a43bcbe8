#include "diagnose/threshold.h"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace doctor {

std::span<const Threshold> shared_thresholds() {
  static constexpr std::array<Threshold, 8> kShared = {{
      {"cores_used_up", 0.80, "share", "busy threads as a share of the CPU budget: cores count as used up"},
      {"cores_idle", 0.55, "share", "the same: cores count as idle up to it"},
      {"cores_missing", 0.80, "share", "the same: what the input uses is missing elsewhere"},
      {"much_python", 0.50, "share", "of the time: Python in the input may hold up the training loop"},
      {"often", 0.20, "share", "of the calls: a buffer is often empty, or full"},
      {"mostly", 0.50, "share", "of the calls: a buffer is mostly empty, or full"},
      {"memory_full", 0.90, "share", "of the machine's memory: AUTOTUNE has little left for buffers"},
      {"ram_budget_used", 0.90, "share", "of the RAM budget: AUTOTUNE has no room left"},
  }};
  return kShared;
}

Threshold shared_threshold(std::string_view name, std::string_view shared_as, std::string_view meaning) {
  const std::span<const Threshold> all = shared_thresholds();
  const auto shared = std::find_if(all.begin(), all.end(), [&](const Threshold& row) { return row.name == shared_as; });
  if (shared == all.end()) throw std::logic_error("a rule shares a threshold that nobody else uses");
  return {name, shared->value, shared->unit, meaning, shared_as};
}

ThresholdValues::ThresholdValues(std::span<const Threshold> defaults,
                                 const std::map<std::string, double, std::less<>>& settings) {
  values_.reserve(defaults.size());
  for (const Threshold& threshold : defaults) {
    const auto set = settings.find(threshold.name);
    values_.push_back({threshold.name, set == settings.end() ? threshold.value : set->second});
  }
}

double ThresholdValues::operator[](std::string_view name) const {
  for (const Value& value : values_) {
    if (value.name == name) return value.value;
  }
  throw std::logic_error("a rule asks for a threshold that it does not declare");
}

void ThresholdValues::set(std::string_view name, double value) {
  for (Value& known : values_) {
    if (known.name == name) known.value = value;
  }
}

ThresholdValues values_in_force(std::string_view rule, std::span<const Threshold> defaults,
                                const ThresholdSettings& settings) {
  static const ThresholdSettings::mapped_type kNone;
  const auto set = settings.find(rule);
  return {defaults, set == settings.end() ? kNone : set->second};
}

}  // namespace doctor
