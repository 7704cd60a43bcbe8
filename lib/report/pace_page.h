#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/diagnose.h"
#include "measure/step_work.h"
#include "report/selection.h"
#include "text/json_page.h"
#include "text/text_page.h"

namespace doctor {

// `show pace`: what sets the pace. Each stage and the training itself as one bar, the time that it needs for a step:
// they work at the same time, so the longest is how long a step takes, and the second longest what limits next.

/// What a bar is in the picture.
enum class PaceRole : std::uint8_t {
  other,
  sets_pace,    ///< its worker needs the longest for a step, and that is how long a step takes
  next_limit,   ///< likewise of all other workers
  waited_for,   ///< the training waits for it now and then: no worker needs as long as a step
  takes_cores,  ///< it takes cores, or Python's lock, from the training
};

/// A bar of the picture.
struct PaceBar {
  StageWork work;
  PaceRole role = PaceRole::other;
};

/// The picture of the pipeline that is waited for most. Refers to the measurements.
struct StepPace {
  PipelineView view;
  double step = 0;                   ///< us from one call of the consumer to the next, the mean, as recorded
  double longest = 0;                ///< us that the worker needs for a step that needs the longest
  std::optional<double> step_after;  ///< the same after the first change; none: no change has a predicted gain
  std::vector<PaceBar> bars;         ///< in the order of the user's code, the training last
  std::size_t bars_left_out = 0;     ///< those that take next to no time
};

/// Nothing where the trace does not show what a step is made of: fewer than two steps, or no threads.
std::optional<StepPace> pace_of(const Measurements& measurements, const Diagnosis& diagnosis);

/// The word of the schema, e.g. "sets_pace".
std::string_view to_word(PaceRole role);

/// What a role is for a person, by its word of the schema: "sets the pace"; empty for `other`.
std::string_view describe_pace_role(std::string_view word);

/// How to read the picture, in a few sentences. `is_in_turn`: a worker has several bars.
std::string describe_pace(double step, double longest, bool is_in_turn);

/// `pace` of the report; null for nothing.
OrderedJson pace_json(const std::optional<StepPace>& pace);

/// The document `tfdata-doctor.pace/1`.
OrderedJson pace_page_json(const Measurements& measurements, const Diagnosis& diagnosis);

/// The picture for a terminal.
std::string render_pace_text(const Measurements& measurements, const Diagnosis& diagnosis, const TextStyle& style);

/// A line for each bar, with a header.
std::string render_pace_csv(const Measurements& measurements, const Diagnosis& diagnosis);

/// The picture as rows of a page that has more: nothing for no picture.
void add_pace(const std::optional<StepPace>& pace, const TextStyle& style, TextPage& page);

/// The bars as lines of a page that goes on, at most `width` columns wide; empty for nothing. Foreign text in them is
/// escaped.
std::vector<std::string> pace_lines(const std::optional<StepPace>& pace, const TextStyle& style);

}  // namespace doctor
