#include "diagnose/cores.h"
#include "diagnose/user_code.h"
#include "report/json_values.h"
#include "report/page.h"

namespace doctor {
namespace {

/// What can be tuned of some iterators.
struct AutotuneGroup : IteratorGroup {
  AutotuneBudget budget;
  std::vector<AutotuneStage> stages;  ///< the members that can be tuned, in tree order
};

std::string describe_cores(const AutotuneGroup& group, const AutotuneStage& stage) {
  const auto cores = static_cast<std::uint64_t>(std::max<std::int64_t>(group.budget.cpu_cores.value_or(0), 0));
  const std::string budget = fmt::format("the CPU budget of {}", format_count(cores, "core"));
  if (stage.binding == Binding::fixed_parallelism) {
    return fmt::format("fixed at {}, {} would allow more, and the consumer waits for it: AUTOTUNE may raise it",
                       *stage.parallelism, budget);
  }
  const bool is_above = *stage.parallelism > group.budget.cpu_cores.value_or(0);
  return fmt::format("{} {}", is_above ? "above" : "at", budget);
}

std::vector<AutotuneGroup> autotune_groups(const Measurements& measurements, const Diagnosis& diagnosis) {
  std::vector<AutotuneGroup> groups;
  for (IteratorGroup& iterators : iterator_groups(measurements, diagnosis.judgement)) {
    AutotuneGroup group{std::move(iterators), {}, {}};
    group.budget = autotune_budget(group.host, group.members, group.pipeline, diagnosis.thresholds);
    for (const IteratorId member : group.members) {
      if (is_tunable(group.host.iterators[member]))
        group.stages.push_back(autotune_stage(group.host, group.pipeline, member, diagnosis.thresholds));
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

/// Why a stage's tuning binds or does not, for a person; empty where nothing suggests either.
std::string describe_binding(const AutotuneGroup& group, const AutotuneStage& stage) {
  switch (stage.binding) {
    case Binding::unknown:
      return "the trace does not say";
    case Binding::nothing:
      return {};
    case Binding::empty_buffer:
      return fmt::format(
          "empty in {} of the calls: its input is slower than its consumer, a larger buffer gains nothing",
          format_share(stage.fill->empty_share()));
    case Binding::full_buffer:
      return fmt::format("full in {} of the calls: the input keeps up, a larger buffer gains nothing",
                         format_share(stage.fill->full_share()));
    case Binding::bursts:
      return fmt::format("empty in {} and full in {} of the calls: a larger buffer can smooth the bursts",
                         format_share(stage.fill->empty_share()), format_share(stage.fill->full_share()));
    case Binding::cycle_length:
      return fmt::format("at its cycle_length of {}: works on all its inputs at once", *stage.cycle_length);
    case Binding::cpu_budget:
    case Binding::fixed_parallelism:
      return describe_cores(group, stage);
  }
  return {};
}

// The words of the schema: they never change.
OrderedJson to_word(Binding binding) {
  using enum Binding;
  return known_or_null(binding != unknown, word_of(binding, {{nothing, "nothing"},
                                                             {empty_buffer, "empty_buffer"},
                                                             {full_buffer, "full_buffer"},
                                                             {bursts, "bursts"},
                                                             {cpu_budget, "cpu_budget"},
                                                             {cycle_length, "cycle_length"},
                                                             {fixed_parallelism, "fixed_parallelism"}}));
}

OrderedJson reading_json(const AttributeReading& reading) {
  return reading.number ? OrderedJson(*reading.number) : OrderedJson(reading.text);
}

OrderedJson history_json(const HostMeasurement& host, const AttributeHistory& history) {
  const bool was_said = history.event_count > 0;
  const bool has_numbers = history.number_count > 0;
  return {{key::attribute, history.name},
          {key::event_count, history.event_count},
          {key::unavailable_count, history.unavailable_count},
          {key::first, known_or_null(was_said, reading_json(history.first))},
          {key::last, known_or_null(was_said, reading_json(history.last))},
          {key::min, known_or_null(has_numbers, history.min)},
          {key::mean, known_or_null(has_numbers, history.mean)},
          {key::max, known_or_null(has_numbers, history.max)},
          {key::change_count, history.change_count},
          {key::changes, array_of(history.changes, [&](const AttributeChange& change) -> OrderedJson {
             return {{key::time_us, to_microseconds(change.time - host.window_start)},
                     {key::value, reading_json(change.value)}};
           })}};
}

/// Of all attributes of an iterator.
OrderedJson histories_json(const HostMeasurement& host, IteratorId iterator) {
  if (iterator == kNoIterator) return OrderedJson::array();
  return array_of(host.iterators[iterator].history.attributes,
                  [&](const AttributeHistory& history) { return history_json(host, history); });
}

OrderedJson fill_json(const std::optional<BufferFill>& fill) {
  if (!fill) return nullptr;
  return {{key::call_count, fill->calls},
          {key::min, fill->min},
          {key::mean, fill->mean},
          {key::max, fill->max},
          {key::empty_share, fill->empty_share()},
          {key::full_share, fill->full_share()}};
}

OrderedJson stage_json(const AutotuneGroup& group, const AutotuneStage& stage) {
  const IteratorMeasurement& iterator = group.host.iterators[stage.iterator];
  return {
      {key::long_name, iterator.long_name},
      {key::short_name, iterator.short_name},
      {key::stage, describe(group.host, stage.iterator)},
      {key::given, stage.is_autotuned ? OrderedJson(*stage.is_autotuned ? "autotune" : "fixed") : OrderedJson(nullptr)},
      {key::set_by, iterator.user_call.is_parallelised_by_tf || iterator.is_injected() ? "tf" : "user"},
      {"chosen",
       {{key::parallelism, or_null(stage.parallelism)},
        {key::cycle_length, or_null(stage.cycle_length)},
        {key::buffer_limit, or_null(stage.buffer_limit)}}},
      {key::fill, fill_json(stage.fill)},
      {key::binding, to_word(stage.binding)},
      {key::reason, describe_binding(group, stage)},
      {key::history, histories_json(group.host, stage.iterator)}};
}

OrderedJson budget_json(const AutotuneGroup& group) {
  const AutotuneBudget& budget = group.budget;
  return {{key::cpu_cores, or_null(budget.cpu_cores)},
          {key::threads_seen, group.host.compute_threads},
          {key::threadpool_size, or_null(budget.threadpool_size)},
          {key::intra_op_parallelism, or_null(budget.intra_op_parallelism)},
          {key::algorithm, or_null(budget.algorithm)},
          {key::ram_budget_mb, or_null(budget.ram_budget_mb)},
          {key::buffered_mb, or_null(budget.buffered_mb)},
          {key::machine_ram_used_mb, or_null(budget.machine_used_mb)},
          {key::machine_ram_mb, or_null(budget.machine_ram_mb)},
          {key::history, histories_json(group.host, budget.root)}};
}

OrderedJson group_json(const AutotuneGroup& group) {
  return {{key::id, group.pipeline != nullptr ? OrderedJson(group.id) : OrderedJson(nullptr)},
          {key::host, group.host.name()},
          {key::root, long_name_json(group.host, group.root())},
          {key::budget, budget_json(group)},
          {key::stages, array_of(group.stages, [&](const AutotuneStage& stage) { return stage_json(group, stage); })}};
}

Cell cell_of(const AttributeReading& reading) {
  return reading.number ? Cell(*reading.number) : Cell(reading.text);
}

constexpr std::size_t kStageWidth = 70;
constexpr std::size_t kMostChanges = 3;  // that a cell spells out

std::string words_of(const AttributeReading& reading) {
  return reading.number ? fmt::format("{}", *reading.number) : clipped(reading.text);
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
  const std::vector<AttributeHistory>& histories = group.host.iterators[stage.iterator].history.attributes;
  for (const std::string_view name : names) {
    const auto history = std::ranges::find(histories, name, &AttributeHistory::name);
    if (history != histories.end()) return trail_of(group, *history);
  }
  return {};
}

std::string parallelism_cell(const AutotuneGroup& group, const AutotuneStage& stage) {
  std::string cell = value_of(group, stage, {key::parallelism, "num_parallel_calls"});
  const std::string order = value_of(group, stage, {"deterministic"});
  const std::string cycle = value_of(group, stage, {"cycle_length"});
  if (!cycle.empty()) cell += (cell.empty() ? "cycle of " : ", cycle of ") + cycle;
  if (order == "true") cell += ", deterministic";
  if (order == "false") cell += ", in any order";
  return cell;
}

std::string buffer_cell(const AutotuneGroup& group, const AutotuneStage& stage) {
  const IteratorMeasurement& iterator = group.host.iterators[stage.iterator];
  return iterator.has(Trait::prefetch)
             ? value_of(group, stage, {"buffer_limit"})
             : value_of(group, stage, {key::buffer_limit, "max_batch_results", "buffer_size"});
}

std::string given_cell(const IteratorMeasurement& iterator, std::optional<bool> is_autotuned) {
  const bool is_written = !iterator.user_call.is_parallelised_by_tf && !iterator.is_injected();
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
         clipped(describe(group.host, stage.iterator), kStageWidth);
}

std::string stage_table(const AutotuneGroup& group, PageWidth width) {
  std::vector<TextRow> rows;
  for (const AutotuneStage& stage : group.stages) {
    const std::string fill =
        stage.fill ? fmt::format("{} / {:.1f} / {}", stage.fill->min, stage.fill->mean, stage.fill->max) : "";
    rows.push_back({stage_cell(group, stage), given_cell(group.host.iterators[stage.iterator], stage.is_autotuned),
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

std::string budget_lines(const AutotuneGroup& group) {
  const AutotuneBudget& budget = group.budget;
  std::vector<std::string> parts;
  const auto count = [](std::int64_t number) { return static_cast<std::uint64_t>(std::max<std::int64_t>(number, 0)); };
  if (budget.cpu_cores) {
    parts.push_back(format_count(count(*budget.cpu_cores), "core"));
  }
  if (budget.threadpool_size) parts.push_back(format_count(count(*budget.threadpool_size), "thread") + " in the pool");
  if (budget.intra_op_parallelism)
    parts.push_back(fmt::format("intra-op parallelism {}", *budget.intra_op_parallelism));
  if (budget.algorithm) parts.push_back("algorithm " + clipped(*budget.algorithm));
  const std::string seen = threads_seen(group.host.compute_threads);
  std::string lines = parts.empty() ? "" : fmt::format("CPU: {}\n", fmt::join(parts, ", "));
  lines += ram_line(budget);
  if (budget.root == kNoIterator)
    lines += fmt::format("the trace does not say what the pipeline may use (before TF 2.5 none did){}{}\n",
                         seen.empty() ? "" : "; ", seen);
  return lines;
}

std::string group_text(const AutotuneGroup& group, PageWidth width) {
  const std::string host = clipped(group.host.name());
  std::string text = group.pipeline != nullptr ? fmt::format("pipeline {} on {}\n", group.id, host)
                                               : fmt::format("no call of a consumer was seen for these on {}\n", host);
  text = fitted_lines(text, width, 2);
  if (group.members.empty()) return text + "the trace shows nothing inside of its calls\n";
  text +=
      group.stages.empty() ? "the trace shows no stage with a parallelism or a buffer\n" : stage_table(group, width);
  return text + fitted_lines(budget_lines(group), width, 5);
}

/// With the histories of all attributes.
Result<OrderedJson> autotune_document(const PageInput& input) {
  const auto& [measurements, diagnosis, options] = input;
  OrderedJson page = begun_page("tfdata-doctor.autotune/1");
  for (const HostMeasurement& host : measurements.hosts) {
    if (host.history_limit) page[key::history_limit_bytes] = *host.history_limit;
  }
  page[key::pipelines] = array_of(autotune_groups(measurements, diagnosis), group_json);
  return page;
}

/// A row for each attribute of each iterator.
Result<PageRows> autotune_rows(const PageInput& input) {
  DataTable table =
      table_with({"pipeline", "long_name", "attribute", "first", "last", "min", "mean", "max", "changes"});
  for (const AutotuneGroup& group : autotune_groups(input.measurements, input.diagnosis)) {
    for (const IteratorId member : group.members) {
      const IteratorMeasurement& iterator = group.host.iterators[member];
      for (const AttributeHistory& history : iterator.history.attributes) {
        const auto number = [&](auto value) { return history.number_count > 0 ? Cell(value) : Cell(); };
        table.rows.push_back({group.id, iterator.long_name, history.name, cell_of(history.first), cell_of(history.last),
                              number(history.min), number(history.mean), number(history.max),
                              static_cast<std::int64_t>(history.change_count)});
      }
    }
  }
  return PageRows{std::move(table)};
}

Result<std::string> autotune_text(const PageInput& input) {
  const std::string text =
      joined(autotune_groups(input.measurements, input.diagnosis), "\n",
             [&](const AutotuneGroup& group) { return group_text(group, input.options.style.width); });
  return text.empty() ? "no tf.data iterator in this trace\n" : text;
}

}  // namespace

constinit const Page kAutotunePage = {.name = "autotune",
                                      .summary = "what each stage was given and chose, and whether it binds",
                                      .needs = [](const ShowOptions&) { return TraceNeeds{.attribute_history = true}; },
                                      .rows = autotune_rows,
                                      .text = autotune_text,
                                      .document = autotune_document};

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

}  // namespace doctor
