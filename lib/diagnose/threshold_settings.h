#pragma once

#include "base/result.h"
#include "diagnose/catalog.h"

namespace doctor {

/// A threshold as the user sets it.
struct ThresholdSetting {
  std::string rule;
  std::string name;
  double value = 0;
  std::string source;  ///< where it was written. Foreign text
};

/// The entry of the rule named `id`. Errors, reported at `where`: no such rule, with the nearest name.
Result<const CatalogEntry*> find_rule(std::string_view id, std::span<const CatalogEntry> catalog,
                                      const std::string& where = {});

/// The threshold of that name. Errors, reported at `where`: no such threshold, with the nearest name.
Result<const Threshold*> find_threshold(std::string_view name, const Rule& rule, const std::string& where);

/// Whether the threshold can take the value, which was written as `text`: a number from 0 up, a share up to 1.
Result<void> check_threshold_value(const Threshold& threshold, double value, const std::string& text,
                                   const std::string& where);

/// Reads "rule.threshold=value", written at `where`. Errors: anything but a known rule, one of its thresholds and a
/// number that it can take.
Result<ThresholdSetting> parse_threshold_setting(const std::string& text, const std::string& where,
                                                 std::span<const CatalogEntry> catalog);

/// What diagnose() takes; of several for one threshold the last counts.
ThresholdSettings in_force(std::span<const ThresholdSetting> settings);

}  // namespace doctor
