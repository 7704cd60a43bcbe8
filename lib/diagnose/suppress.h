#pragma once

#include <chrono>
#include <functional>
#include <span>
#include <vector>

#include "diagnose/finding.h"

namespace doctor {

/// Suppressions that did nothing, in the order given.
struct IdleSuppressions {
  std::vector<Suppression> expired;  ///< before `today`
  std::vector<Suppression> unused;   ///< in force, but no finding fits
};

/// Marks the findings that a suppression fits. `today` ends those that expired before it. Of several that fit, the
/// first one is named.
IdleSuppressions suppress(std::vector<Finding>& findings, std::span<const Suppression> suppressions,
                          std::chrono::year_month_day today);

/// Findings that stand elsewhere: a trace of thousands of pipelines has 10 MB of them.
using FindingRefs = std::vector<std::reference_wrapper<const Finding>>;

/// The findings that are not suppressed, in their order: those that count.
FindingRefs findings_that_count(std::span<const Finding> findings);

}  // namespace doctor
