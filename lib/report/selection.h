#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "diagnose/finding.h"
#include "diagnose/judgement_types.h"
#include "measure/measurements.h"

namespace doctor {

/// From here on a verdict is sure: docs/configuration.md says what the confidence means.
inline constexpr double kSureConfidence = 0.7;

// What the renderers show, chosen in one place so that text, JSON and tree never disagree.

/// A judged pipeline with the measurements that it refers to.
struct PipelineView {
  const HostMeasurement& host;
  const PipelineMeasurement& pipeline;
  const PipelineJudgement& judgement;

  const PhaseMeasurement& phase() const { return judged_phase(pipeline, judgement); }
  /// Only if the judgement has a culprit.
  const IteratorMeasurement& culprit() const { return host.iterators[index_of(judgement.culprit)]; }
};

/// Where the user wrote the iterator that the finding is about; null if that is not known.
const SourceLine* source_of(const Measurements& measurements, const Judgement& judgement, const Finding& finding);

/// What a page about the traces is called: the run, where they lie in a log directory, and its host.
std::string title_of_traces(const Measurements& measurements);

/// All pipelines, worst first.
std::vector<PipelineView> pipelines_of(const Measurements& measurements, const Judgement& judgement);

/// The pipelines to choose from, worst first: the one with this id, else all that feed no other. Errors: the trace has
/// none of this id.
Result<std::vector<PipelineView>> choose_pipelines(const Measurements& measurements, const Judgement& judgement,
                                                   const std::optional<std::string>& id);

/// Whether the first of the pipelines has a call of this number, as `--call` may ask for.
Result<void> check_call_number(const std::vector<PipelineView>& pipelines, std::size_t number);

/// Whether the judgement names an iterator that somebody waits for: in a pipeline that holds its consumer up, or held
/// it up while it warmed up. The busiest iterator of a pipeline that keeps up is not a bottleneck.
bool names_culprit(const PipelineJudgement& judgement);

/// Share of the time that the consumer waits; nullopt if no call was seen.
std::optional<double> input_share_of(const PipelineView& view);

/// Time on the critical path of the pipeline's calls, warm-up included.
Picoseconds critical_time(const PipelineMeasurement& pipeline, IteratorId iterator);

/// The members of a pipeline, parents before their children, inputs in order; the roots of host pipelines that a
/// device pipeline gets its elements from follow with theirs.
std::vector<IteratorId> members_in_tree_order(const HostMeasurement& host, const PipelineMeasurement& pipeline);

/// The same in the order of the user's code: inputs before what reads them, and host pipelines before those of devices.
std::vector<IteratorId> members_in_code_order(const HostMeasurement& host, const PipelineMeasurement& pipeline);

/// The iterators of a host that belong to no pipeline, in tree order.
std::vector<IteratorId> other_iterators(const HostMeasurement& host);

/// The iterators of one pipeline, or those of a host for which no call of a consumer was seen.
struct IteratorGroup {
  const HostMeasurement& host;
  const PipelineMeasurement* pipeline;  ///< null for the latter
  std::string id;                       ///< of the pipeline; empty for the latter
  std::vector<IteratorId> members;      ///< in tree order
};

/// Pipelines worst first; those that only feed another are part of it. Then what belongs to no pipeline.
std::vector<IteratorGroup> iterator_groups(const Measurements& measurements, const Judgement& judgement);

/// A stable name within the report: "<number of the file>:<number of the root>".
std::string pipeline_id(const PipelineJudgement& judgement, const PipelineMeasurement& pipeline);
/// The same of the pipeline of this root on the host of the judgement.
std::string pipeline_id(const PipelineJudgement& judgement, IteratorId root);

/// The ids of the pipelines that this one gets its elements from, as far as its waits show them. A host pipeline that
/// only feeds devices has no call of a consumer, and then no entry of its own.
std::vector<std::string> feeding_pipelines(const PipelineView& view);
/// The root that an id of this form names, kNoIterator for bare GetNext ops; nullopt if it is not such an id.
std::optional<IteratorId> root_of_pipeline_id(std::string_view id);

/// The losses of all files together.
Loss total_loss(const Measurements& measurements);

/// What is wrong with the files that name the lines of datasets, each fault once. Foreign text.
std::vector<std::string> source_lines_faults(const Measurements& measurements);

std::uint64_t event_count(const Measurements& measurements);

/// The verdict in one sentence. Holds foreign text.
std::string summarize(const Measurements& measurements, const Judgement& judgement);

/// Why nothing can be judged: one clause, for the statuses no_input_pipeline and inconclusive.
std::string reason_without_verdict(const Measurements& measurements, const Judgement& judgement);

}  // namespace doctor
