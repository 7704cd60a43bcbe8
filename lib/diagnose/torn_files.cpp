#include "diagnose/torn_files.h"

#include <algorithm>

#include "diagnose/judgement_passes.h"
#include "trace/torn.h"

namespace doctor {
namespace {

/// The most that can be believed of who makes the consumer of a torn file wait: the thread that did the work may be
/// among what is missing. A data service whose workers were cut off was blamed with 0.9.
constexpr double kMostConfidenceInTornCulprit = 0.65;

/// Lowers the belief in the culprit as far as the whole must be lowered.
void limit_belief_in_culprit(Confidence& confidence) {
  const double total = confidence.total();
  if (total > kMostConfidenceInTornCulprit) confidence.culprit *= kMostConfidenceInTornCulprit / total;
}

}  // namespace

std::optional<doubts::TornFile> torn_file(const Measurements& measurements) {
  for (std::size_t host = 0; host < measurements.hosts.size(); ++host) {
    if (is_torn(measurements.hosts[host].loss)) return doubts::TornFile{host};
  }
  return std::nullopt;
}

void doubt_torn_file(const PipelineEvidence& evidence, PipelineJudgement& judgement) {
  if (!is_torn(evidence.host.loss)) return;
  if (judgement.level == InputLevel::bound) return limit_belief_in_culprit(judgement.confidence);
  judgement.level = InputLevel::unknown;
  judgement.confidence.coverage = std::min(judgement.confidence.coverage, kMostCoverageOfTorn);
  judgement.doubt = doubts::TornFile{judgement.host};
}

}  // namespace doctor
