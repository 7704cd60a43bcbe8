#include "report/comparison_pages.h"
#include "report/json_values.h"

namespace doctor {
namespace {

// The words of the schema: they never change.

std::string_view to_word(ComparisonOutcome outcome) {
  using enum ComparisonOutcome;
  return word_of(outcome,
                 {{regression, "regression"}, {no_regression, "no_regression"}, {inconclusive, "inconclusive"}});
}

std::string_view to_word(ChangeKind kind) {
  using enum ChangeKind;
  return word_of(kind, {{iterator_added, "iterator_added"},
                        {iterator_removed, "iterator_removed"},
                        {iterator_moved, "iterator_moved"},
                        {form_changed, "form_changed"},
                        {setting_changed, "setting_changed"},
                        {op_added, "op_added"},
                        {op_calls_changed, "op_calls_changed"},
                        {element_bytes_changed, "element_bytes_changed"},
                        {calls_changed, "calls_changed"},
                        {finding_new, "finding_new"},
                        {budget_exceeded, "budget_exceeded"},
                        {finding_gone, "finding_gone"}});
}

std::string_view to_word(TimeKind kind) {
  using enum TimeKind;
  return word_of(kind, {{self, "self"},
                        {op, "op"},
                        {tail, "tail"},
                        {calls, "calls"},
                        {work, "work"},
                        {modelled, "modelled_step"},
                        {get_next, "get_next"},
                        {step, "step"}});
}

std::string_view schema_word(Difference difference) {
  using enum Difference;
  return word_of(difference, {{same, "same"}, {faster, "faster"}, {slower, "slower"}, {unknown, "unknown"}});
}

/// What the values of a row are measured in.
std::string_view unit_of(TimeKind kind) {
  if (kind == TimeKind::tail) return "share";
  return kind == TimeKind::calls ? "calls_per_step" : "us";
}

OrderedJson change_json(const StructureChange& change) {
  return {{key::kind, to_word(change.kind)},
          {key::subject, change.subject},
          {key::words, change.words},
          {key::message, change.message},
          {key::certain, change.is_certain},
          {key::worse, change.is_worse},
          {key::added_share, or_null(change.added_share)},
          {key::regression, is_regression(change)},
          {key::source, source_json(change.source ? &*change.source : nullptr)}};
}

OrderedJson interval_json(const TimeRow& row) {
  if (!row.interval) return nullptr;
  return {{key::low, row.interval->low}, {key::high, row.interval->high}, {key::confidence, row.interval->confidence}};
}

OrderedJson row_json(const TimeRow& row) {
  return {{key::kind, to_word(row.kind)},
          {key::subject, row.subject},
          {key::words, row.words},
          {key::op, text_or_null(row.op)},
          {key::source, source_json(row.source ? &*row.source : nullptr)},
          {key::unit, unit_of(row.kind)},
          {key::base, row.base},
          {key::candidate, row.candidate},
          {key::base_median, row.base_median},
          {key::candidate_median, row.candidate_median},
          {key::ratio, known_or_null(row.ratio() > 0, row.ratio())},
          {key::interval, interval_json(row)},
          {key::p_value, row.p_value},
          {key::adjusted_p_value, row.adjusted_p_value},
          {key::cost_us_per_step, row.cost_us},
          {key::longer_step, or_null(row.longer_step)},
          {key::difference, schema_word(row.difference)},
          {key::judged, row.is_judged},
          {key::regression, is_regression(row)},
          {key::reason, text_or_null(row.reason)},
          {key::recordings_needed, or_null(row.needed)}};
}

OrderedJson stage_times_json(const StageTimes& stage) {
  return {{key::words, stage.words}, {key::base_us, stage.base_us}, {key::candidate_us, stage.candidate_us}};
}

OrderedJson gap_json(const std::optional<ClosedGap>& closed) {
  if (!closed) return nullptr;
  const IdealGap& gap = closed->gap;
  return {{key::file, closed->source},
          {key::steps_per_s, {{key::base, gap.from}, {key::candidate, closed->candidate}, {key::ideal, gap.to}}},
          {key::closes, gap.is_open() ? OrderedJson(gap.closed_by(closed->candidate)) : OrderedJson(nullptr)}};
}

Tone tone_of(ComparisonOutcome outcome) {
  using enum ComparisonOutcome;
  return outcome == regression ? Tone::bad : outcome == no_regression ? Tone::good : Tone::unsure;
}

std::string_view label_of(Difference difference) {
  using enum Difference;
  return word_of(difference, {{slower, "Slower"}, {faster, "Faster"}, {same, "Same"}, {unknown, "Unsure"}});
}

std::string_view label_of(const StructureChange& change) {
  if (is_regression(change)) return "Worse";
  return change.is_certain ? "Changed" : "Unsure";
}

void add_changes(const std::vector<StructureChange>& changes, Detail detail, TextPage& page) {
  for (const StructureChange& change : changes) {
    const bool is_folded = detail != Detail::full && may_be_chance(change);
    if (!is_folded) page.row(label_of(change), describe_change(change));
  }
}

/// Changes and rows that nothing can be said of: a person can do nothing about them but record more.
std::string describe_undecided(const std::vector<StructureChange>& changes, const std::vector<const TimeRow*>& rows) {
  const auto count = rows.size() + static_cast<std::size_t>(std::ranges::count_if(changes, may_be_chance));
  if (count == 0) return {};
  std::string text = format_count(count, "difference") + " that may be chance";
  std::size_t needed = 0;
  for (const TimeRow* const row : rows) needed = std::max(needed, row->needed.value_or(0));
  if (needed > 0) text += fmt::format("; up to {} a side would decide", format_count(needed, "recording"));
  return text + " (-v lists them)";
}

/// Whether a row is told without -v: nothing can be done about one that may be chance but record more.
bool is_decided(const TimeRow& row) {
  return row.difference != Difference::unknown && (row.is_judged || !is_of_consumer(row.kind));
}

void add_rows(const RunComparison& comparison, Detail detail, TextPage& page) {
  // A screen has room for what costs most; a table of all is for -v and JSON.
  constexpr std::size_t kScreenful = 8;
  std::size_t shown = 0;
  std::size_t left_out = 0;
  std::vector<const TimeRow*> undecided;
  const auto add = [&](const TimeRow& row) {
    if (detail != Detail::full && !is_decided(row)) {
      if (is_worth_a_line(row) || row.kind == TimeKind::step || row.kind == TimeKind::get_next)
        undecided.push_back(&row);
      return;
    }
    const bool is_wanted = is_regression(row) || (is_worth_a_line(row) && shown < kScreenful) || detail == Detail::full;
    if (!is_wanted) {
      ++left_out;
      return;
    }
    ++shown;
    const bool is_for_information = is_of_consumer(row.kind) && !row.is_judged;
    page.row(is_for_information ? "For info" : label_of(row.difference),
             describe_subject(row) + ": " + describe_row(row) + in_brackets(row.source));
  };
  std::ranges::for_each(comparison.rows, add);
  std::ranges::for_each(comparison.pipeline_rows, add);
  if (left_out > 0) page.row("Also", fmt::format("{} not shown: -v shows all", format_count(left_out, "row")));
  if (detail == Detail::full) return;
  const std::string words = describe_undecided(comparison.changes, undecided);
  if (!words.empty()) page.row("Unsure", words);
}

}  // namespace

OrderedJson comparison_json(const RunComparison& comparison) {
  OrderedJson json = {{key::schema, "tfdata-doctor.comparison/1"},
                      {key::tool, tool_json()},
                      {key::outcome, to_word(comparison.outcome)},
                      {key::summary, summarize(comparison)},
                      {"recordings",
                       {{key::base, comparison.base_count},
                        {key::candidate, comparison.candidate_count},
                        {key::needed, comparison.needed_count}}},
                      {key::structure, array_of(comparison.changes, change_json)},
                      {key::times, array_of(comparison.rows, row_json)},
                      {key::pipelines, array_of(comparison.pipeline_rows, row_json)},
                      {key::stages, array_of(comparison.stages, stage_times_json)},
                      {key::max_extra_work, comparison.max_extra_work},
                      {key::ideal, gap_json(comparison.ideal)},
                      {key::other_machine, comparison.machines.is_other},
                      {key::machine_differences, comparison.machines.differences},
                      {key::machine_pace, known_or_null(comparison.pace.rows > 0, comparison.pace.ratio)},
                      {key::notes, comparison.notes}};
  if (!comparison.settings_note.empty()) json[key::settings_note] = comparison.settings_note;
  return json;
}

std::string render_comparison_text(const RunComparison& comparison, const TextStyle& style) {
  TextPage page(style.color, style.width);
  page.headline(verdict_words(comparison.outcome), summarize(comparison), tone_of(comparison.outcome));
  if (style.detail == Detail::verdict) return page.take();
  page.row("Compared",
           fmt::format("{} base with {} candidate recordings", comparison.base_count, comparison.candidate_count));
  if (comparison.ideal) page.row("Ideal", describe_gap(*comparison.ideal));
  const bool has_both = comparison.base_count > 0 && comparison.candidate_count > 0;
  if (has_both && comparison.changes.empty()) page.row("Pipeline", "the same iterators, settings and findings");
  add_changes(comparison.changes, style.detail, page);
  add_rows(comparison, style.detail, page);
  for (const std::string& note : comparison.notes) page.row("Note", note);
  return page.take();
}

}  // namespace doctor
