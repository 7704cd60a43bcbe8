#include "report/comparison_pages.h"
#include "report/json_values.h"

namespace doctor {
namespace {

// The words of the schema: they never change.
std::string_view metric_word(HistoryMetric metric) {
  using enum HistoryMetric;
  return word_of(
      metric,
      {{step, "step"}, {get_next, "get_next"}, {work, "work"}, {iterator_work, "iterator_work"}, {op_work, "op_work"}});
}

std::string day_of(const HistoryEntry& entry) {
  return entry.recorded_ns == 0 ? std::string() : to_timestamp(entry.recorded_ns).substr(0, 10);
}

/// "3f2a1c of 2026-11-20", "2026-11-20", "version 4".
std::string name_of(const History& history, std::size_t index) {
  const HistoryEntry& entry = history.entries[index];
  const std::string day = day_of(entry);
  if (!entry.label.empty()) return day.empty() ? entry.label : entry.label + " of " + day;
  return day.empty() ? fmt::format("version {}", index + 1) : day;
}

const HistoryChange* change_at(const HistorySeries& series, std::size_t entry) {
  const auto found = std::ranges::find(series.changes, entry, &HistoryChange::entry);
  return found == series.changes.end() ? nullptr : &*found;
}

Cell time_cell(const std::optional<double>& microseconds) {
  if (!microseconds) return std::monostate{};
  return static_cast<Picoseconds>(std::llround(*microseconds * 1e6));
}

DataTable table_of_entries(const History& history) {
  DataTable table;
  table.columns = {{key::number, "", ColumnKind::count},
                   {"day", "day"},
                   {key::label, "label"},
                   {key::recordings, "recordings", ColumnKind::count},
                   {key::step_us, "step", ColumnKind::time},
                   {"get_next_us", "GetNext", ColumnKind::time},
                   {"work_us", "work a step", ColumnKind::time},
                   {key::changes, ""}};
  for (std::size_t entry = 0; entry < history.entries.size(); ++entry) {
    std::vector<Cell> row = {static_cast<std::int64_t>(entry + 1), day_of(history.entries[entry]),
                             history.entries[entry].label,
                             static_cast<std::int64_t>(history.entries[entry].recordings)};
    std::size_t changes = 0;
    for (const HistorySeries& series : history.series) changes += change_at(series, entry) != nullptr ? 1U : 0U;
    for (std::size_t whole = 0; whole < 3; ++whole) row.push_back(time_cell(history.series[whole].values[entry]));
    row.emplace_back(changes == 0 ? std::string() : format_count(changes, "change"));
    table.rows.push_back(std::move(row));
  }
  return table;
}

OrderedJson series_json(const HistorySeries& series) {
  return {{key::metric, metric_word(series.metric)},
          {key::words, series.words},
          {key::source, source_json(series.source ? &*series.source : nullptr)},
          {key::values_us, array_of(series.values, or_null<double>)},
          {key::changes, array_of(series.changes, [&](const HistoryChange& change) -> OrderedJson {
             return {{key::entry, change.entry},
                     {key::before_us, change.before},
                     {key::after_us, change.after},
                     {key::ratio, change.after / change.before}};
           })}};
}

/// What a recording says of where it was made.
struct Machine {
  std::string host;
  std::string cpu;
  std::uint64_t cores = 0;
  std::string tensorflow;

  friend bool operator==(const Machine&, const Machine&) = default;
};

Machine machine_of(const StoredRun& run) {
  const RecordingFacts& facts = run.summary.recording;
  return {facts.host, facts.cpu, facts.cores, facts.tensorflow};
}

std::vector<Machine> machines_of(const std::vector<StoredRun>& runs) {
  std::vector<Machine> machines;
  for (const StoredRun& run : runs) {
    const Machine machine = machine_of(run);
    if (std::ranges::find(machines, machine) == machines.end()) machines.push_back(machine);
  }
  return machines;
}

/// Its number; 0 of an only one, which needs none.
Cell number_of(const Machine& machine, const std::vector<Machine>& machines) {
  return machines.size() < 2 ? count_cell(0) : count_cell(std::ranges::find(machines, machine) - machines.begin() + 1);
}

constexpr Column kMachineNumber = {"machine", "machine", ColumnKind::count, /*is_left_out_if_zero=*/true};

std::string machines_text(const std::vector<Machine>& machines, PageWidth width) {
  const std::vector<Field<Machine>> fields = {
      {kMachineNumber, [&](const auto& machine) { return number_of(machine, machines); }},
      {{"host", "host"}, [](const auto& machine) { return text_cell(machine.host); }},
      {{"cpu", "CPU"}, [](const auto& machine) { return text_cell(machine.cpu); }},
      {{"cores", "cores", ColumnKind::count},
       [](const auto& machine) { return machine.cores == 0 ? Cell() : count_cell(machine.cores); }},
      {{"tensorflow", "TensorFlow"}, [](const auto& machine) { return text_cell(machine.tensorflow); }}};
  return rows_text({table_of(fields, machines), "recorded on"}, width);
}

/// "2026-11-20 13:05", in UTC.
Cell minute_of(const StoredRun& run) {
  if (run.summary.recording.recorded_ns == 0) return std::monostate{};
  std::string minute = to_timestamp(run.summary.recording.recorded_ns).substr(0, 16);
  minute[10] = ' ';
  return minute;
}

/// Median time from one GetNext call to the next, of the pipeline with the most calls.
Cell step_of(const RunSummary& summary) {
  const auto longest = std::ranges::max_element(
      summary.pipelines,
      [](const PipelineSummary& a, const PipelineSummary& b) { return a.step.count < b.step.count; });
  if (longest == summary.pipelines.end() || longest->step.count == 0) return std::monostate{};
  return longest->step.median;
}

}  // namespace

std::string describe_change(const History& history, const HistorySeries& series, const HistoryChange& change) {
  const bool is_part = series.metric == HistoryMetric::iterator_work || series.metric == HistoryMetric::op_work;
  return fmt::format("{}{}: {} -> {}{} ({:.3g}x) since {}", series.words, in_brackets(series.source),
                     format_microseconds(change.before), format_microseconds(change.after), is_part ? " of a step" : "",
                     change.after / change.before, name_of(history, change.entry));
}

std::string render_history_text(const History& history, PageWidth width) {
  if (history.entries.empty()) return "no whole run to show\n";
  std::string page = rows_text({table_of_entries(history), format_count(history.entries.size(), "version")}, width);
  // The latest first; at one entry in the order of the series, what the user feels before its parts.
  std::vector<std::tuple<std::size_t, const HistorySeries*, const HistoryChange*>> changes;
  for (const HistorySeries& series : history.series) {
    for (const HistoryChange& change : series.changes) changes.emplace_back(change.entry, &series, &change);
  }
  std::ranges::stable_sort(changes, [](const auto& a, const auto& b) { return std::get<0>(a) > std::get<0>(b); });
  TextPage list(/*color=*/false, width);
  if (changes.empty()) list.row("changed", "no number changed for good");
  for (const auto& [entry, series, change] : changes) list.row("changed", describe_change(history, *series, *change));
  return page + "\n" + list.take();
}

std::string render_history_csv(const History& history) {
  DataTable table;
  table.columns = {{key::number, "", ColumnKind::count},
                   {key::recorded_at, ""},
                   {key::label, ""},
                   {key::metric, ""},
                   {key::words, ""},
                   {"value_us", "", ColumnKind::time},
                   {"change_ratio", "", ColumnKind::number}};
  for (std::size_t entry = 0; entry < history.entries.size(); ++entry) {
    const HistoryEntry& at = history.entries[entry];
    for (const HistorySeries& series : history.series) {
      const HistoryChange* const change = change_at(series, entry);
      table.rows.push_back({static_cast<std::int64_t>(entry + 1),
                            at.recorded_ns == 0 ? std::string() : to_timestamp(at.recorded_ns), at.label,
                            std::string(metric_word(series.metric)), series.words, time_cell(series.values[entry]),
                            change == nullptr ? Cell() : Cell(change->after / change->before)});
    }
  }
  return table_csv(table);
}

OrderedJson history_json(const History& history) {
  OrderedJson series = array_of(history.series, series_json);
  return {{key::schema, "tfdata-doctor.history/1"},
          {key::tool, tool_json()},
          {key::entries, array_of(history.entries,
                                  [&](const HistoryEntry& entry) -> OrderedJson {
                                    return {{key::label, text_or_null(entry.label)},
                                            {key::machine, text_or_null(entry.machine)},
                                            {key::recorded_at, entry.recorded_ns == 0
                                                                   ? OrderedJson(nullptr)
                                                                   : OrderedJson(to_timestamp(entry.recorded_ns))},
                                            {key::recordings, entry.recordings}};
                                  })},
          {key::series, std::move(series)}};
}

std::string render_baseline_text(const std::vector<StoredRun>& runs, PageWidth width) {
  const std::vector<Machine> machines = machines_of(runs);
  const std::vector<Field<StoredRun>> fields = {
      {{"recorded", "recorded (UTC)"}, minute_of},
      {{"label", "label"}, [](const auto& run) { return text_cell(run.label); }},
      {kMachineNumber, [&](const auto& run) { return number_of(machine_of(run), machines); }},
      {{"median_step_us", "median step", ColumnKind::time}, [](const auto& run) { return step_of(run.summary); }},
      {{"findings", "findings", ColumnKind::count},
       [](const auto& run) { return count_cell(run.summary.findings.size()); }},
      {{"source", "source"}, [](const auto& run) { return run.summary.source; }}};
  const std::string page = rows_text({table_of(fields, runs), format_count(runs.size(), "run")}, width);
  return machines.empty() ? page : page + "\n" + machines_text(machines, width);
}

}  // namespace doctor
