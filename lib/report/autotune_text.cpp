#include <fmt/format.h>

#include <algorithm>

#include "diagnose/dataset_words.h"
#include "diagnose/user_code.h"
#include "report/autotune.h"
#include "text/columns.h"
#include "text/escape.h"
#include "text/numbers.h"
#include "text/text_table.h"

namespace doctor {
namespace {

constexpr std::size_t kTextWidth = 60;
constexpr std::size_t kStageWidth = 70;
constexpr std::size_t kMostChanges = 3;  // that a cell spells out

const AttributeHistory* find_history(const IteratorMeasurement& iterator, std::string_view name) {
  for (const AttributeHistory& history : iterator.history.attributes) {
    if (history.name == name) return &history;
  }
  return nullptr;
}

std::string words_of(const AttributeReading& reading) {
  return reading.number ? fmt::format("{}", *reading.number) : clip(escape_for_terminal(reading.text), kTextWidth);
}

/// "2", "1 -> 2 at 0.350 s", "1 -> 8 (5 changes, 1 to 8)".
std::string trail_of(const AutotuneGroup& group, const AttributeHistory& history) {
  if (history.event_count == 0) return "unavailable";
  if (history.change_count == 0) return words_of(history.last);
  std::string trail = words_of(history.first);
  if (history.change_count > kMostChanges) {
    trail += fmt::format(" -> {} ({}", words_of(history.last), format_count(history.change_count, "change"));
    return trail + (history.number_count > 0 ? fmt::format(", {} to {})", history.min, history.max) : ")");
  }
  for (const AttributeChange& change : history.changes) {
    const double seconds =
        static_cast<double>(change.time - group.host.window_start) / static_cast<double>(kPicosecondsPerSecond);
    trail += fmt::format(" -> {} at {:.3f} s", words_of(change.value), seconds);
  }
  return trail;
}

/// The first of the attributes that the iterator has, as it changed; empty if it has none.
std::string value_of(const AutotuneGroup& group, const AutotuneStage& stage,
                     std::initializer_list<std::string_view> names) {
  const IteratorMeasurement& iterator = group.host.iterators[index_of(stage.iterator)];
  for (const std::string_view name : names) {
    if (const AttributeHistory* const history = find_history(iterator, name)) return trail_of(group, *history);
  }
  return {};
}

std::string parallelism_cell(const AutotuneGroup& group, const AutotuneStage& stage) {
  std::string cell = value_of(group, stage, {"parallelism", "num_parallel_calls"});
  const std::string order = value_of(group, stage, {"deterministic"});
  const std::string cycle = value_of(group, stage, {"cycle_length"});
  if (!cycle.empty()) cell += (cell.empty() ? "cycle of " : ", cycle of ") + cycle;
  if (order == "true") cell += ", deterministic";
  if (order == "false") cell += ", in any order";
  return cell;
}

std::string buffer_cell(const AutotuneGroup& group, const AutotuneStage& stage) {
  const IteratorMeasurement& iterator = group.host.iterators[index_of(stage.iterator)];
  return kind_of(iterator) == "Prefetch" ? value_of(group, stage, {"buffer_limit"})
                                         : value_of(group, stage, {"buffer_limit", "max_batch_results", "buffer_size"});
}

std::string given_cell(const IteratorMeasurement& iterator, std::optional<bool> is_autotuned) {
  const bool is_written = !is_parallelised_by_tf(iterator) && !is_injected(iterator);
  if (is_autotuned == true) return is_written ? "AUTOTUNE" : "nothing (TF: AUTOTUNE)";
  return is_autotuned == false ? "fixed" : "not recorded";
}

/// Indented below the stages above it.
std::string stage_cell(const AutotuneGroup& group, const AutotuneStage& stage) {
  std::size_t above = 0;
  const std::vector<IteratorMeasurement>& iterators = group.host.iterators;
  IteratorId iterator = iterators[index_of(stage.iterator)].parent;
  // No way is longer than there are iterators, whatever a damaged trace says.
  for (std::size_t steps = 0; iterator != kNoIterator && steps < iterators.size(); ++steps) {
    if (is_tunable(iterators[index_of(iterator)])) ++above;
    iterator = iterators[index_of(iterator)].parent;
  }
  constexpr std::size_t kDeepestIndent = 12;
  return std::string(2 * std::min(above, kDeepestIndent), ' ') +
         clip(escape_for_terminal(describe(group.host, stage.iterator)), kStageWidth);
}

std::string stage_table(const AutotuneGroup& group, PageWidth width) {
  std::vector<TextRow> rows;
  for (const AutotuneStage& stage : group.stages) {
    const std::string fill =
        stage.fill ? fmt::format("{} / {:.1f} / {}", stage.fill->min, stage.fill->mean, stage.fill->max) : "";
    rows.push_back({stage_cell(group, stage),
                    given_cell(group.host.iterators[index_of(stage.iterator)], stage.is_autotuned),
                    parallelism_cell(group, stage), buffer_cell(group, stage), fill, describe_binding(group, stage)});
  }
  return text_table({{"stage", Align::left, Fit::shorten},
                     {"given", Align::left, Fit::shorten, 1},
                     {"parallelism", Align::left, Fit::shorten},
                     {"buffer", Align::left, Fit::shorten, 2},
                     {"filled (min/mean/max)", Align::left, Fit::keep, 3},
                     {"what binds", Align::left, Fit::wrap}},
                    rows, width);
}

std::string megabytes(std::int64_t count) {
  return fmt::format("{} MB", count >= 0 ? format_count(static_cast<std::uint64_t>(count)) : fmt::format("{}", count));
}

std::string ram_line(const AutotuneBudget& budget) {
  std::vector<std::string> parts;
  if (budget.ram_budget_mb) parts.push_back(megabytes(*budget.ram_budget_mb) + " for buffers");
  if (budget.buffered_mb) parts.push_back(megabytes(*budget.buffered_mb) + " in them at the end");
  if (budget.machine_used_mb && budget.machine_ram_mb) {
    parts.push_back(fmt::format("the machine uses {} of {}{}", megabytes(*budget.machine_used_mb),
                                megabytes(*budget.machine_ram_mb),
                                budget.is_machine_nearly_full ? ", AUTOTUNE has little left for buffers" : ""));
  }
  if (budget.is_budget_nearly_used) parts.emplace_back("the budget is nearly used up");
  return parts.empty() ? "" : fmt::format("RAM: {}\n", fmt::join(parts, ", "));
}

std::string budget_lines(const AutotuneGroup& group) {
  const AutotuneBudget& budget = group.budget;
  std::vector<std::string> parts;
  const auto count = [](std::int64_t number) { return static_cast<std::uint64_t>(std::max<std::int64_t>(number, 0)); };
  if (budget.cpu_cores) {
    parts.push_back(format_count(count(*budget.cpu_cores), "core") +
                    (budget.root == kNoIterator ? " (by its threads)" : ""));
  }
  if (budget.threadpool_size) parts.push_back(format_count(count(*budget.threadpool_size), "thread") + " in the pool");
  if (budget.intra_op_parallelism)
    parts.push_back(fmt::format("intra-op parallelism {}", *budget.intra_op_parallelism));
  if (budget.algorithm) parts.push_back("algorithm " + clip(escape_for_terminal(*budget.algorithm), kTextWidth));
  std::string lines = parts.empty() ? "" : fmt::format("CPU: {}\n", fmt::join(parts, ", "));
  lines += ram_line(budget);
  if (budget.root == kNoIterator)
    lines += "the trace does not say what the pipeline may use (before TF 2.5 none did)\n";
  return lines;
}

std::string group_text(const AutotuneGroup& group) {
  const std::string host = clip(escape_for_terminal(host_name(group.host)), kTextWidth);
  std::string text = group.pipeline != nullptr ? fmt::format("pipeline {} on {}\n", group.id, host)
                                               : fmt::format("no call of a consumer was seen for these on {}\n", host);
  if (group.members.empty()) return text + "the trace shows nothing inside of its calls\n";
  text += group.stages.empty() ? "the trace shows no stage with a parallelism or a buffer\n" : stage_table(group, {});
  return text + budget_lines(group);
}

}  // namespace

std::string render_autotune_text(const Measurements& measurements, const Diagnosis& diagnosis) {
  std::string text;
  for (const AutotuneGroup& group : autotune_groups(measurements, diagnosis)) {
    text += (text.empty() ? "" : "\n") + group_text(group);
  }
  return text.empty() ? "no tf.data iterator in this trace\n" : text;
}

}  // namespace doctor
