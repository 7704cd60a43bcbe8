#pragma once

#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace doctor {

/// A number that decides whether a rule fires. Printed by `explain`, set by `--set rule.name=value`.
struct Threshold {
  std::string_view name;     ///< snake_case, says what is compared: "min_share"
  double value = 0;          ///< default
  std::string_view unit;     ///< "share" (0..1), "us", "calls", "ratio", ...
  std::string_view meaning;  ///< what it decides, and where the number comes from
  /// The name under which the verdict or a page uses the value too, so that they never disagree with the rule; empty if
  /// only the rule uses it. See shared_threshold().
  std::string_view shared_as = {};
};

/// The thresholds that rules share with the verdict or a page, by their common names.
std::span<const Threshold> shared_thresholds();

/// The row of a rule for one of these.
Threshold shared_threshold(std::string_view name, std::string_view shared_as, std::string_view meaning);

/// The values in force for one rule: its defaults with the user's settings on top. Few, and made for every trace of
/// many: they are looked for one after another. Refers to the names of the thresholds, not to the rows themselves.
class ThresholdValues {
 public:
  ThresholdValues() = default;
  ThresholdValues(std::span<const Threshold> defaults, const std::map<std::string, double, std::less<>>& settings);

  /// The value of a threshold that the rule declares; asking for another one is a bug and ends the program.
  double operator[](std::string_view name) const;
  /// Another value for a threshold; nothing happens if it is not declared.
  void set(std::string_view name, double value);

 private:
  struct Value {
    std::string_view name;
    double value = 0;
  };
  std::vector<Value> values_;
};

/// Settings of all rules: rule id -> threshold name -> value.
using ThresholdSettings = std::map<std::string, std::map<std::string, double, std::less<>>, std::less<>>;

/// The values in force for the rule named `rule`, whose thresholds are `defaults`.
ThresholdValues values_in_force(std::string_view rule, std::span<const Threshold> defaults,
                                const ThresholdSettings& settings);

}  // namespace doctor
