#include <cmath>
#include <numeric>

#include "report/html/html_page.h"
#include "report/json_values.h"
#include "report/page.h"

namespace doctor {
namespace {

constexpr std::array<NamedValue<PaceRole>, 5> kRoles = {{{PaceRole::sets_pace, "sets_pace", "sets the pace"},
                                                         {PaceRole::next_limit, "next_limit", "limits next"},
                                                         {PaceRole::waited_for, "waited_for", "waited for"},
                                                         {PaceRole::takes_cores, "takes_cores", "takes cores"},
                                                         {PaceRole::other, "other", ""}}};

constexpr std::string_view kTrainingItself = "the training itself";

Picoseconds pace_time(double microseconds) {
  return std::llround(microseconds * static_cast<double>(kPicosecondsPerMicrosecond));
}

std::string name_of_bar(const StepPace& pace, const PaceBar& bar) {
  const IteratorId stage = bar.work.stage;
  return stage == kNoIterator ? std::string(kTrainingItself) : describe(pace.view.host, stage);
}

/// The step after the first change that counts, as far as its gain is known.
std::optional<double> step_after_change(const Diagnosis& diagnosis, double step) {
  for (const Change& change : diagnosis.changes) {
    const Finding& finding = diagnosis.findings[change.finding];
    if (finding.suppressed || change.is_unproven) continue;
    const std::optional<Gain>& gain = finding.advice[change.advice].gain;
    return gain && gain->factor() > 0 ? std::optional(step / gain->factor()) : std::nullopt;
  }
  return std::nullopt;
}

/// Of each worker when it is done with a step, in us.
std::vector<double> ends_of_workers(const std::vector<StageWork>& stages) {
  std::vector<double> ends;
  for (const StageWork& work : stages) {
    ends.resize(std::max(ends.size(), work.worker + 1));
    ends[work.worker] = std::max(ends[work.worker], work.end());
  }
  return ends;
}

/// The worker that ends last; the culprit's where both end within a tenth: less is not a difference to be sure of.
std::size_t find_setter(const PipelineView& view, const std::vector<StageWork>& stages,
                        const std::vector<double>& ends) {
  constexpr double kAsLong = 0.9;
  const auto longest = std::ranges::max_element(ends);
  auto setter = static_cast<std::size_t>(longest - ends.begin());
  if (!names_culprit(view.judgement)) return setter;
  for (const StageWork& work : stages) {
    const bool is_culprit = work.stage == view.judgement.culprit;
    if (is_culprit && ends[work.worker] >= kAsLong * *longest) setter = work.worker;
  }
  return setter;
}

/// The bar that is marked of a worker's: that of the culprit, else the longest.
std::size_t main_bar(const std::vector<StageWork>& stages, std::size_t worker, IteratorId culprit) {
  std::optional<std::size_t> best;
  for (std::size_t index = 0; index < stages.size(); ++index) {
    if (stages[index].worker != worker) continue;
    if (stages[index].stage == culprit && culprit != kNoIterator) return index;
    if (!best || stages[index].time > stages[*best].time) best = index;
  }
  return best.value_or(0);
}

std::optional<std::size_t> next_worker(const std::vector<double>& ends, std::size_t setter) {
  std::optional<std::size_t> next;
  for (std::size_t worker = 0; worker < ends.size(); ++worker) {
    if (worker != setter && ends[worker] > 0 && (!next || ends[worker] > ends[*next])) next = worker;
  }
  return next;
}

/// A worker that needs nearly as long as a step sets the pace.
constexpr double kNearlyAStep = 0.9;

std::vector<PaceRole> roles_of(const StepWork& work, const StepPace& pace, const std::vector<double>& ends) {
  std::vector<PaceRole> roles(work.stages.size());
  const bool has_culprit = names_culprit(pace.view.judgement);
  const IteratorId culprit = has_culprit ? pace.view.judgement.culprit : kNoIterator;
  const std::size_t setter = find_setter(pace.view, work.stages, ends);
  const std::size_t setting = main_bar(work.stages, setter, culprit);
  if (ends[setter] >= kNearlyAStep * work.step) {
    roles[setting] = PaceRole::sets_pace;
    if (const auto next = next_worker(ends, setter)) {
      roles[main_bar(work.stages, *next, kNoIterator)] = PaceRole::next_limit;
    }
  }
  const bool takes = pace.view.judgement.cost.takes != InputCost::Takes::nothing;
  for (std::size_t index = 0; has_culprit && index < work.stages.size(); ++index) {
    if (work.stages[index].stage != culprit || roles[index] == PaceRole::sets_pace) continue;
    roles[index] = takes ? PaceRole::takes_cores : PaceRole::waited_for;
  }
  return roles;
}

void set_bars(const StepWork& work, StepPace& pace) {
  constexpr double kNextToNothing = 0.02;
  const std::vector<double> ends = ends_of_workers(work.stages);
  const std::vector<PaceRole> roles = roles_of(work, pace, ends);
  pace.longest = *std::ranges::max_element(ends);
  for (std::size_t index = 0; index < work.stages.size(); ++index) {
    const StageWork& of = work.stages[index];
    const bool is_shown = of.stage == kNoIterator || of.time >= kNextToNothing * work.step ||
                          (roles[index] != PaceRole::other && roles[index] != PaceRole::next_limit);
    if (is_shown) pace.bars.push_back({of, roles[index]});
    if (!is_shown) ++pace.bars_left_out;
  }
}

DataTable table_of_bars(const StepPace& pace) {
  const std::vector<Field<PaceBar>> fields = {
      {{key::name, "stage", ColumnKind::text}, [&](const PaceBar& bar) { return name_of_bar(pace, bar); }},
      {{key::long_name, "long name", ColumnKind::text},
       [&](const PaceBar& bar) {
         const IteratorId stage = bar.work.stage;
         return stage == kNoIterator ? Cell() : Cell(pace.view.host.iterators[stage].long_name);
       }},
      {{key::time_us, "time", ColumnKind::time}, [](const PaceBar& bar) { return pace_time(bar.work.time); }},
      {{key::before_us, "before", ColumnKind::time}, [](const PaceBar& bar) { return pace_time(bar.work.before); }},
      {{key::at_once, "at once", ColumnKind::count}, [](const PaceBar& bar) { return bar.work.at_once; }},
      {{key::worker, "worker", ColumnKind::count}, [](const PaceBar& bar) { return count_cell(bar.work.worker); }},
      {{key::role, "role", ColumnKind::text}, [](const PaceBar& bar) { return std::string(to_word(bar.role)); }}};
  return table_of(fields, pace.bars);
}

// For a terminal.

constexpr std::size_t kUsualPaceWidth = 80;
constexpr std::size_t kLongestStage = 28;
constexpr std::size_t kShortestBar = 10;
constexpr std::string_view kRed = "\x1b[1;31m";
constexpr std::string_view kGreen = "\x1b[32m";
constexpr std::string_view kPlain = "\x1b[0m";

/// A line of the chart, escaped.
struct PaceLine {
  std::string name;
  double start = 0;  ///< us
  double end = 0;
  std::string words;
  std::string_view color;  ///< empty: none
};

bool is_at_fault(PaceRole role) {
  return role != PaceRole::other && role != PaceRole::next_limit;
}

std::vector<PaceLine> lines_of(const StepPace& pace) {
  std::vector<PaceLine> lines;
  for (const PaceBar& bar : pace.bars) {
    const std::string_view color = bar.work.stage == kNoIterator ? kGreen
                                   : is_at_fault(bar.role)       ? kRed
                                                                 : std::string_view();
    lines.push_back({clipped(name_of_bar(pace, bar), kLongestStage), bar.work.before, bar.work.end(),
                     std::string(describe_pace_role(to_word(bar.role))), color});
  }
  return lines;
}

std::string line_of(const PaceLine& line, double axis, std::size_t name_width, std::size_t bar_width, bool color) {
  const Interval window{0, std::max<Picoseconds>(pace_time(axis), 1)};
  const Interval span{pace_time(line.start), std::max(pace_time(line.end), pace_time(line.start) + 1)};
  std::string bar = bar_of({span}, window, bar_width);
  if (color && !line.color.empty()) bar = fmt::format("{}{}{}", line.color, bar, kPlain);
  const std::string padding(name_width - std::min(name_width, column_count(line.name)), ' ');
  std::string text = fmt::format("{}{} {} {:>8}", line.name, padding, bar, format_time(span.end - span.start));
  if (!line.words.empty()) text += "  " + line.words;
  return text;
}

bool is_in_turn(const StepPace& pace) {
  return std::ranges::adjacent_find(pace.bars, [](const PaceBar& one, const PaceBar& next) {
           return one.work.worker == next.work.worker;
         }) != pace.bars.end();
}

}  // namespace

std::optional<StepPace> pace_of(const Measurements& measurements, const Diagnosis& diagnosis) {
  for (const PipelineView& view : pipelines_of(measurements, diagnosis.judgement)) {
    if (view.pipeline.feeds_another) continue;
    const StepWork work = work_of_steps(view.host, view.pipeline);
    if (work.step <= 0) return std::nullopt;
    StepPace pace{view, work.step, 0, step_after_change(diagnosis, work.step), {}, 0};
    set_bars(work, pace);
    return pace;
  }
  return std::nullopt;
}

std::string_view to_word(PaceRole role) {
  return std::ranges::find(kRoles, role, &NamedValue<PaceRole>::value)->word;
}

std::string_view describe_pace_role(std::string_view word) {
  const auto* const found = std::ranges::find(kRoles, word, &NamedValue<PaceRole>::word);
  return found == kRoles.end() ? std::string_view() : found->words;
}

std::string describe_pace(double step, double longest, bool is_in_turn) {
  constexpr double kLonger = 1.1;
  std::string text = "All bars are worked on at the same time";
  text += is_in_turn ? ", but for those that begin where the one above ends: one thread does these in turn. " : ". ";
  if (longest > kLonger * step)
    return text + "The recorded steps are shorter than the longest bar: they took elements that were made before.";
  if (longest < kNearlyAStep * step)
    return text + "No bar is as long as a step: some elements take longer, and the training waits for these.";
  return text + "The longest is how long a step takes. Shorten it, and the next one limits.";
}

OrderedJson pace_json(const std::optional<StepPace>& pace) {
  if (!pace) return nullptr;
  return {{key::pipeline, pipeline_id(pace->view)},
          {key::step_us, pace->step},
          {key::longest_us, pace->longest},
          {key::step_after_us, or_null(pace->step_after)},
          {key::bars, table_json(table_of_bars(*pace))},
          {key::bars_left_out, pace->bars_left_out}};
}

std::vector<std::string> pace_lines(const std::optional<StepPace>& pace, const TextStyle& style) {
  if (!pace) return {};
  std::vector<PaceLine> lines = lines_of(*pace);
  lines.push_back({"a step now", 0, pace->step, {}, {}});
  if (pace->step_after) lines.push_back({"a step with fix 1", 0, *pace->step_after, {}, kGreen});
  double axis = 0;
  std::size_t name_width = 0;
  std::size_t beside = 0;
  for (const PaceLine& line : lines) {
    axis = std::max(axis, line.end);
    name_width = std::max(name_width, column_count(line.name));
    beside = std::max(beside, line.words.size());
  }
  constexpr std::size_t kTimeAndBlanks = 13;
  const std::size_t taken = name_width + beside + kTimeAndBlanks;
  const std::size_t width = style.width.value_or(kUsualPaceWidth);
  const std::size_t bar_width = std::max(width - std::min(width, taken), kShortestBar);
  std::vector<std::string> texts;
  for (const PaceLine& line : lines) texts.push_back(line_of(line, axis, name_width, bar_width, style.color));
  return texts;
}

void add_pace(const std::optional<StepPace>& pace, const TextStyle& style, TextPage& page) {
  constexpr std::size_t kRowsText = 12;   // the column of the text of a row
  constexpr std::size_t kNarrowest = 60;  // names, bars and times need as much; `show pace` has the picture
  TextStyle inside = style;
  inside.color = false;  // a page escapes what it is given
  inside.width = style.width.value_or(kUsualPaceWidth) - std::min(style.width.value_or(kUsualPaceWidth), kRowsText);
  if (*inside.width < kNarrowest) return;
  std::string text;
  for (const std::string& line : pace_lines(pace, inside)) text += line + "\n";
  page.lines("Pace", text);
}

namespace {

Result<std::string> pace_text(const PageInput& input) {
  const TextStyle& style = input.options.style;
  const std::optional<StepPace> pace = pace_of(input.measurements, input.diagnosis);
  if (!pace) return std::string("the trace does not show what a step is made of\n");
  std::string text = fitted_lines("What sets the pace: the time that each stage needs for one step\n", style.width);
  text += '\n';
  for (const std::string& line : pace_lines(pace, style)) text += line + "\n";
  text += '\n';
  text += fitted_lines(describe_pace(pace->step, pace->longest, is_in_turn(*pace)) + "\n", style.width);
  if (pace->bars_left_out > 0) {
    text += fitted_lines(format_count(pace->bars_left_out, "stage") + " with next to no time left out\n", style.width);
  }
  return text;
}

Result<PageRows> pace_rows(const PageInput& input) {
  const std::optional<StepPace> pace = pace_of(input.measurements, input.diagnosis);
  return PageRows{pace ? table_of_bars(*pace) : DataTable()};
}

Result<OrderedJson> pace_document(const PageInput& input) {
  OrderedJson page = begun_page("tfdata-doctor.pace/1");
  page[key::pace] = pace_json(pace_of(input.measurements, input.diagnosis));
  return page;
}

}  // namespace

constinit const Page kPacePage = {
    .name = "pace",
    .summary = "what sets the pace: the time that each stage and the training need for one step",
    .is_drawn = true,
    .rows = pace_rows,
    .text = pace_text,
    .document = pace_document,
    .picture = [](const PageInput& input) {
      return render_pace_svg(pace_json(pace_of(input.measurements, input.diagnosis)));
    }};

}  // namespace doctor
