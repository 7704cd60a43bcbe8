#pragma once

#include "base/result.h"
#include "diagnose/answer.h"
#include "diagnose/finding.h"
#include "measure/measurements.h"

namespace doctor {

// What the renderers show, chosen in one place so that text, JSON and tree never disagree.

/// Where the user wrote the iterator that the finding is about; null if that is not known.
const SourceLine* source_of(const Measurements& measurements, const Judgement& judgement, const Finding& finding);

/// What a page about the traces is called: the run, where they lie in a log directory, and its host.
std::string title_of_traces(const Measurements& measurements);

/// The pipelines to choose from, worst first: the one with this id, else all that feed no other. Errors: the trace has
/// none of this id.
Result<std::vector<PipelineView>> choose_pipelines(const Measurements& measurements, const Judgement& judgement,
                                                   const std::optional<std::string>& id);

/// Whether the first of the pipelines has a call of this number, as `--call` may ask for.
Result<void> check_call_number(const std::vector<PipelineView>& pipelines, std::size_t number);

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

  /// kNoIterator where there is no pipeline, or its inside is not seen.
  IteratorId root() const { return pipeline == nullptr ? kNoIterator : pipeline->root; }
};

/// Pipelines worst first; those that only feed another are part of it. Then what belongs to no pipeline.
std::vector<IteratorGroup> iterator_groups(const Measurements& measurements, const Judgement& judgement);

/// A stable name within the report: "<number of the file>:<number of the root>".
std::string pipeline_id(const PipelineView& view);
/// The same of the pipeline of this root on the host of the judgement.
std::string pipeline_id(const PipelineJudgement& judgement, IteratorId root);

/// The ids of the pipelines that this one gets its elements from, as far as its waits show them. A host pipeline that
/// only feeds devices has no call of a consumer, and then no entry of its own.
std::vector<std::string> feeding_pipelines(const PipelineView& view);
/// The root that an id of this form names, kNoIterator for bare GetNext ops; nullopt if it is not such an id.
std::optional<IteratorId> root_of_pipeline_id(std::string_view id);

/// What is wrong with the files that name the lines of datasets, each fault once. Foreign text.
std::vector<std::string> source_lines_faults(const Measurements& measurements);

}  // namespace doctor
