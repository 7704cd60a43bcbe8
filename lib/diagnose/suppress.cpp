#include "diagnose/suppress.h"

#include <algorithm>
#include <iterator>

#include "base/glob.h"

namespace doctor {
namespace {

bool fits(const Suppression& suppression, const Finding& finding) {
  return suppression.rule == finding.rule &&
         (suppression.subject.empty() || matches_glob(suppression.subject, finding.subject));
}

}  // namespace

IdleSuppressions suppress(std::vector<Finding>& findings, std::span<const Suppression> suppressions,
                          std::chrono::year_month_day today) {
  IdleSuppressions idle;
  for (const Suppression& suppression : suppressions) {
    if (suppression.expires && *suppression.expires < today) {
      idle.expired.push_back(suppression);
      continue;
    }
    bool is_used = false;
    for (Finding& finding : findings) {
      if (!fits(suppression, finding)) continue;
      is_used = true;
      if (!finding.suppressed) finding.suppressed = suppression;
    }
    if (!is_used) idle.unused.push_back(suppression);
  }
  return idle;
}

FindingRefs findings_that_count(std::span<const Finding> findings) {
  FindingRefs counting;
  std::copy_if(findings.begin(), findings.end(), std::back_inserter(counting),
               [](const Finding& finding) { return !finding.suppressed; });
  return counting;
}

}  // namespace doctor
