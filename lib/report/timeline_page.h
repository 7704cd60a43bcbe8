#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "diagnose/diagnose.h"
#include "measure/timeline.h"
#include "report/selection.h"
#include "text/json_page.h"
#include "text/text_page.h"

namespace doctor {

// `show timeline`: what the stages of a pipeline did in typical steps, in the median call and in the longest ones, or
// in one call or step, and who held the consumer when.

/// Which timelines the user wants to see.
struct TimelineChoice {
  std::optional<std::size_t> call;      ///< this call of the pipeline, by its place in time from 1
  std::optional<std::int64_t> step;     ///< the step that the trace marks with this number
  std::optional<std::string> pipeline;  ///< id of the pipeline; else those that feed no other, the worst for a call

  /// What must be measured for it.
  TimelineRequest request() const;
};

/// No more stages of a pipeline are drawn; those that did and held the least are left out.
inline constexpr std::size_t kMostTimelineStages = 40;

/// The windows of one pipeline. Refers to the measurements.
struct PipelineTimeline {
  PipelineView view;
  std::vector<IteratorId> stages;  ///< in the order of the user's code, sources first
  std::size_t stages_left_out = 0;

  const std::vector<TimelineWindow>& windows() const { return view.pipeline.timelines; }
};

struct TimelineList {
  bool shows_tf_data = false;
  std::vector<PipelineTimeline> pipelines;  ///< worst first, at most kMostTimelinePipelines
  std::size_t pipelines_left_out = 0;
};

/// Chooses from timelines that were measured with `choice.request()`. Errors: no such pipeline, no such call or step.
Result<TimelineList> choose_timelines(const Measurements& measurements, const Diagnosis& diagnosis,
                                      const TimelineChoice& choice);

/// The word of the schema: "typical_steps".
std::string_view to_word(WindowKind kind);
std::string_view to_word(LaneWork work);

/// The document `tfdata-doctor.timeline/1`.
OrderedJson timeline_json(const TimelineList& list);

/// One window of each pipeline as lanes for a terminal: the typical steps, or what was asked for.
std::string render_timeline_text(const TimelineList& list, const TextStyle& style = {});

/// One line a stretch of a call and one a span of a lane, with a header.
std::string render_timeline_csv(const TimelineList& list);

}  // namespace doctor
