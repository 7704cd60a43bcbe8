#include "report/comparison_pages.h"
#include "report/json_values.h"

namespace doctor {
namespace {

/// "+520 us", "-1.20 ms".
std::string signed_time(double microseconds) {
  return (microseconds < 0 ? "-" : "+") + format_microseconds(std::abs(microseconds));
}

std::string values_of(const TimeRow& row) {
  const auto both = [&](auto words_of) { return words_of(row.base_median) + " -> " + words_of(row.candidate_median); };
  switch (row.kind) {
    case TimeKind::tail:
      return both(format_share) + " of its time in calls of many times the usual";
    case TimeKind::calls:
      return both([](double calls) { return fmt::format("{:.4g}", calls); }) + " calls a step";
    case TimeKind::work:
      return both(format_microseconds) + " of work a step in its function";
    case TimeKind::modelled:
      return both(format_microseconds);
    case TimeKind::get_next:
    case TimeKind::step:
      return both(format_microseconds) + " (median)";
    case TimeKind::self:
    case TimeKind::op:
      break;
  }
  return both(format_microseconds) + " a call";
}

/// The change of the pipeline that a headline tells: the first that is sure. Null where there is none.
const StructureChange* told_change(const RunComparison& comparison) {
  const auto found = std::ranges::find_if(comparison.changes, [](const StructureChange& change) {
    return change.is_certain && change.kind != ChangeKind::finding_new && change.kind != ChangeKind::finding_gone;
  });
  return found == comparison.changes.end() ? nullptr : &*found;
}

/// ", 0.4% of the pipeline's work (1% may be added)"; empty where the change adds no work, or too much.
std::string allowed_words(const StructureChange& change, const RunComparison& comparison) {
  const double share = change.added_share.value_or(0);
  if (share <= 0 || share > comparison.max_extra_work) return {};
  return fmt::format(", {} of the pipeline's work ({} may be added)", format_share(share),
                     format_share(comparison.max_extra_work));
}

std::size_t regression_count(const RunComparison& comparison) {
  const auto count = [](const auto& items) {
    return static_cast<std::size_t>(std::ranges::count_if(items, [](const auto& item) { return is_regression(item); }));
  };
  return count(comparison.changes) + count(comparison.rows) + count(comparison.pipeline_rows);
}

/// "a step took 3.70 ms and takes 8.24 ms (x2.23)"; empty where no step shows.
std::string felt_words(const RunComparison& comparison) {
  const TimeRow* const row = felt_row(comparison);
  if (row == nullptr || row->ratio() <= 0) return {};
  return fmt::format("a step took {} and takes {} ({:.3g}x)", format_microseconds(row->base_median),
                     format_microseconds(row->candidate_median), row->ratio());
}

/// Whether the recordings show without doubt that a step takes longer: what nobody judged is told only then.
bool is_surely_longer(const TimeRow& row) {
  if (is_regression(row)) return true;
  constexpr double kSure = 0.95;
  return row.interval && row.interval->confidence >= kSure && row.interval->low > 1;
}

std::string first_regression(const RunComparison& comparison) {
  for (const StructureChange& change : comparison.changes) {
    if (is_regression(change)) return describe_change(change);
  }
  for (const std::vector<TimeRow>* rows : {&comparison.rows, &comparison.pipeline_rows}) {
    for (const TimeRow& row : *rows) {
      if (is_regression(row)) return describe_subject(row) + ": " + describe_row(row) + in_brackets(row.source);
    }
  }
  return {};
}

/// The cause, then what the user feels of it.
std::string describe_regression(const RunComparison& comparison) {
  const std::size_t count = regression_count(comparison);
  std::string text = first_regression(comparison);
  if (count > 1) text += fmt::format("; and {} more", count - 1);
  const TimeRow* const felt = felt_row(comparison);
  const bool is_told = felt == nullptr || (is_regression(*felt) && count == 1);
  return is_told || !is_surely_longer(*felt) ? text : text + "; " + felt_words(comparison);
}

/// "; faster: DecodePng in Dataset.map, x0.84 (97% confidence interval 0.81 to 0.86)"; empty where nothing is.
std::string first_improvement(const RunComparison& comparison) {
  for (const TimeRow& row : comparison.rows) {
    if (row.difference == Difference::faster && row.cost_us < 0)
      return "; faster: " + describe_subject(row) + ", " + describe_ratio(row);
  }
  return {};
}

/// What is known of the pipelines whatever the times say.
std::string pipeline_words(const RunComparison& comparison) {
  if (const StructureChange* const told = told_change(comparison)) {
    return describe_change(*told) + allowed_words(*told, comparison);
  }
  const bool may_be_other = !std::ranges::all_of(comparison.changes, may_be_chance);
  return may_be_other ? "the pipeline may have changed, but for nothing that is sure" : "the pipeline is the same";
}

/// What nobody would call a regression, with the numbers that it rests on.
std::string describe_no_regression(const RunComparison& comparison, std::size_t judged) {
  const std::string counts =
      fmt::format("{} base and {} candidate recordings", comparison.base_count, comparison.candidate_count);
  const std::string numbers = format_count(judged, "number");
  if (told_change(comparison) == nullptr) {
    return fmt::format("nothing got slower{} ({} compared, {})", first_improvement(comparison), numbers, counts);
  }
  return fmt::format("{}{}; {} compared, none of a longer time ({})", pipeline_words(comparison),
                     first_improvement(comparison), numbers, counts);
}

/// "the pipeline is the same; recorded on another machine (host: a -> b, cores: 2 -> 16), so times are not compared".
std::string describe_machines(const RunComparison& comparison) {
  return fmt::format(
      "{}; the candidate was recorded on another machine ({}), so times are not compared: record both on one, or give "
      "--across-machines",
      pipeline_words(comparison), fmt::join(comparison.machines.differences, ", "));
}

}  // namespace

std::string_view verdict_words(ComparisonOutcome outcome) {
  using enum ComparisonOutcome;
  return word_of(outcome,
                 {{regression, "REGRESSION"}, {no_regression, "NO REGRESSION"}, {inconclusive, "INCONCLUSIVE"}});
}

const TimeRow* felt_row(const RunComparison& comparison) {
  const TimeRow* felt = nullptr;
  for (const TimeRow& row : comparison.pipeline_rows) {
    if (row.kind == TimeKind::step && (felt == nullptr || row.cost_us > felt->cost_us)) felt = &row;
  }
  return felt;
}

bool is_unchanged(const RunComparison& comparison) {
  const auto is_faster = [](const TimeRow& row) { return row.is_judged && row.difference == Difference::faster; };
  return comparison.outcome == ComparisonOutcome::no_regression &&
         std::ranges::all_of(comparison.changes, may_be_chance) && std::ranges::none_of(comparison.rows, is_faster);
}

bool may_be_chance(const StructureChange& change) {
  using enum ChangeKind;
  const bool varies = change.kind == finding_new || change.kind == finding_gone || change.kind == op_added ||
                      change.kind == op_calls_changed;
  return varies && !change.is_certain;
}

std::size_t judged_count(const RunComparison& comparison) {
  return static_cast<std::size_t>(std::ranges::count_if(comparison.rows, &TimeRow::is_judged));
}

std::string describe_change(const StructureChange& change) {
  return change.message + in_brackets(change.source);
}

std::string in_brackets(const std::optional<SourceLine>& line) {
  return line ? fmt::format(" ({})", to_text(*line)) : std::string();
}

std::string summarize(const RunComparison& comparison) {
  const std::size_t judged = judged_count(comparison);
  const auto judged_times = std::ranges::count_if(
      comparison.rows, [](const TimeRow& row) { return row.is_judged && row.kind != TimeKind::calls; });
  if (comparison.outcome == ComparisonOutcome::regression) return describe_regression(comparison);
  if (comparison.outcome == ComparisonOutcome::no_regression) return describe_no_regression(comparison, judged);
  if (comparison.base_count == 0 || comparison.candidate_count == 0) return "one side has no recording to compare";
  if (comparison.machines.is_other && judged_times == 0) return describe_machines(comparison);
  if (std::min(comparison.base_count, comparison.candidate_count) < comparison.needed_count) {
    return fmt::format("{}; times need {} recordings a side, there are {} and {}", pipeline_words(comparison),
                       comparison.needed_count, comparison.base_count, comparison.candidate_count);
  }
  if (judged > 0) {
    return felt_words(comparison) +
           ", and nothing that was compared explains it; record both again, in turn on an idle machine";
  }
  return "no iterator and no op has enough calls in enough recordings to be compared";
}

std::string describe_subject(const TimeRow& row) {
  return row.op.empty() ? row.words : row.op + " in " + row.words;
}

std::string_view to_word(Difference difference) {
  using enum Difference;
  return word_of(difference, {{slower, "slower"}, {faster, "faster"}, {same, "same"}, {unknown, "~"}});
}

std::string describe_value(const TimeRow& row, double value) {
  if (row.kind == TimeKind::tail) return format_share(value);
  return row.kind == TimeKind::calls ? fmt::format("{:.4g} calls", value) : format_microseconds(value);
}

std::string describe_ratio(const TimeRow& row) {
  if (row.ratio() <= 0 || row.kind == TimeKind::tail) return {};
  std::string text = fmt::format("{:.3g}x", row.ratio());
  // Of one recording against one the interval says nothing.
  constexpr double kWorthTelling = 0.5;
  if (!row.interval || row.interval->confidence < kWorthTelling) return text;
  return text + fmt::format(" ({:.0f}% confidence interval {:.3g} to {:.3g})", 100 * row.interval->confidence,
                            row.interval->low, row.interval->high);
}

std::string describe_cost(const TimeRow& row) {
  constexpr double kNothing = 0.01;
  return is_of_consumer(row.kind) || std::abs(row.cost_us) < kNothing ? std::string() : signed_time(row.cost_us);
}

bool is_worth_a_line(const TimeRow& row) {
  if (is_regression(row)) return true;
  const bool is_time = row.kind == TimeKind::self || row.kind == TimeKind::op;
  return is_time ? row.is_judged || row.needed.has_value() : row.is_judged && row.difference == Difference::faster;
}

std::string describe_row(const TimeRow& row) {
  if (row.base.empty() || row.candidate.empty()) return row.reason;
  std::string text = values_of(row);
  if (const std::string ratio = describe_ratio(row); !ratio.empty()) text += ", " + ratio;
  if (const std::string cost = describe_cost(row); !cost.empty()) text += ", " + cost + " a step";
  constexpr double kLeastLonger = 0.005;
  if (row.longer_step && *row.longer_step >= kLeastLonger && row.difference == Difference::slower) {
    text += fmt::format(", which gets {} longer by it", format_share(*row.longer_step));
  }
  if (!row.reason.empty()) text += "; " + row.reason;
  if (row.needed) text += fmt::format(" ({} per side would show it)", format_count(*row.needed, "recording"));
  return text;
}

std::string describe_gap(const ClosedGap& closed) {
  const IdealGap& gap = closed.gap;
  const std::string rates =
      fmt::format("base {:.3g} steps/s, candidate {:.3g}, ideal {:.3g} (traced)", gap.from, closed.candidate, gap.to);
  if (gap.is_open()) {
    return fmt::format("closed {} of the gap to the ideal run: {}", format_share(gap.closed_by(closed.candidate)),
                       rates);
  }
  if (gap.size() >= 0) return "there is hardly a gap between the base and the ideal run: " + rates;
  return "the ideal run is slower than the base: " + rates + "; record them again, in turn on one machine";
}

}  // namespace doctor
