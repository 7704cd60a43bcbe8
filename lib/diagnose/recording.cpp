#include "diagnose/recording.h"

#include <fmt/format.h>

#include "diagnose/judgement_passes.h"
#include "diagnose/loaders.h"

namespace doctor {
namespace {

const RecordedScript* script_of(const Measurements& measurements) {
  for (const HostMeasurement& host : measurements.hosts) {
    if (host.recording.script) return &*host.recording.script;
  }
  return nullptr;
}

std::string name_of_script(const Measurements& measurements) {
  const RecordedScript* const script = script_of(measurements);
  return script == nullptr ? "train.py" : script->name;
}

/// The most that can be believed of who makes the consumer of a torn file wait: the thread that did the work may be
/// among what is missing. A data service whose workers were cut off was blamed with 0.9.
constexpr double kMostConfidenceInTornCulprit = 0.65;

/// Lowers the belief in the culprit as far as the whole must be lowered.
void limit_belief_in_culprit(Confidence& confidence) {
  const double total = confidence.total();
  if (total > kMostConfidenceInTornCulprit) confidence.culprit *= kMostConfidenceInTornCulprit / total;
}

}  // namespace

std::uint64_t first_step_to_record(const Measurements& measurements) {
  constexpr std::uint64_t kUsualFirst = 11;  // of python -m tfdata_doctor, after the first steps, which compile
  const RecordedScript* const script = script_of(measurements);
  return script == nullptr ? kUsualFirst : script->first_step;
}

std::string recording_command(const Measurements& measurements, std::uint64_t first, std::uint64_t last) {
  if (is_of_torch(measurements)) {
    return fmt::format("torch.profiler.schedule(wait={}, warmup=1, active={})", std::max<std::uint64_t>(first, 2) - 2,
                       last - first + 1);
  }
  return fmt::format("python -m tfdata_doctor --batches {}-{} {}", first, last, name_of_script(measurements));
}

std::string recording_command_of_epochs(const Measurements& measurements) {
  return "python -m tfdata_doctor --epochs-compare " + name_of_script(measurements);
}

std::string recording_code(const Measurements& measurements, std::size_t steps) {
  if (script_of(measurements) != nullptr) {
    const std::uint64_t first = first_step_to_record(measurements);
    return recording_command(measurements, first, first + steps - 1);
  }
  return fmt::format(
      "iterator = iter(dataset)\n"
      "tf.profiler.experimental.start(logdir)\n"
      "for step in range({}):\n"
      "  with tf.profiler.experimental.Trace('train', step_num=step, _r=1):\n"
      "    train_step(next(iterator))  # next() inside of the marker\n"
      "tf.profiler.experimental.stop()",
      steps);
}

std::size_t steps_to_record(const Measurements& measurements) {
  constexpr std::size_t kTimes = 3;  // chosen: enough for what was too short, and still a small file
  std::size_t most = 0;
  for (const HostMeasurement& host : measurements.hosts) {
    for (const PipelineMeasurement& pipeline : host.pipelines) {
      if (!pipeline.feeds_another) most = std::max(most, pipeline.calls.size());
    }
  }
  return std::max(kStepsToRecord, kTimes * most);
}

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
