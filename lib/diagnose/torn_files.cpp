#include "diagnose/torn_files.h"

#include <algorithm>

#include "diagnose/pipelines.h"
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

std::string doubt_of(const Measurements& measurements, const HostMeasurement& torn) {
  const std::string file = measurements.hosts.size() > 1 ? name_of_files(torn) : "the file";
  return file + " " + describe_tear(torn.loss) + ": what is missing may be what the job waited for; " +
         std::string(cure_of_tear(torn.loss));
}

}  // namespace

std::string describe_torn_files(const Measurements& measurements) {
  const auto torn = std::find_if(measurements.hosts.begin(), measurements.hosts.end(),
                                 [](const HostMeasurement& host) { return is_torn(host.loss); });
  return torn == measurements.hosts.end() ? std::string() : doubt_of(measurements, *torn);
}

void doubt_torn_pipelines(const Measurements& measurements, Judgement& judgement) {
  for (PipelineJudgement& pipeline : judgement.pipelines) {
    const HostMeasurement& host = measurements.hosts[pipeline.host];
    if (!is_torn(host.loss)) continue;
    if (pipeline.level == InputLevel::bound) {
      limit_belief_in_culprit(pipeline.confidence);
      continue;
    }
    pipeline.level = InputLevel::unknown;
    pipeline.confidence.coverage = std::min(pipeline.confidence.coverage, kMostCoverageOfTorn);
    pipeline.doubt = doubt_of(measurements, host);
  }
}

void doubt_torn_run(const Measurements& measurements, Judgement& judgement) {
  if (judgement.status != VerdictStatus::healthy || describe_torn_files(measurements).empty()) return;
  judgement.status = VerdictStatus::inconclusive;
  judgement.confidence = std::min(judgement.confidence, kMostCoverageOfTorn);
}

}  // namespace doctor
