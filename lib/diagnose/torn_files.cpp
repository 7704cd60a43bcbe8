#include "diagnose/torn_files.h"

#include <algorithm>

#include "trace/torn.h"

namespace doctor {
namespace {

/// The most that can be believed of what a torn file does not show: less than an even chance.
constexpr double kMostCoverageOfTorn = 0.45;

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

double doubt_torn_files(const Measurements& measurements, Judgement& judgement) {
  for (PipelineJudgement& pipeline : judgement.pipelines) {
    if (!is_torn(measurements.hosts[pipeline.host].loss)) continue;
    if (pipeline.level == InputLevel::bound) {
      limit_belief_in_culprit(pipeline.confidence);
      continue;
    }
    pipeline.level = InputLevel::unknown;
    pipeline.confidence.coverage = std::min(pipeline.confidence.coverage, kMostCoverageOfTorn);
    pipeline.doubt = doubts::TornFile{pipeline.host};
  }
  return torn_file(measurements) ? kMostCoverageOfTorn : 1;
}

}  // namespace doctor
