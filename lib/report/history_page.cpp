#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include "report/comparison_pages.h"
#include "report/json_values.h"
#include "text/data_table.h"
#include "text/document_keys.h"
#include "text/json_page.h"
#include "text/numbers.h"
#include "text/timestamp.h"

namespace doctor {
namespace {

// The words of the schema: they never change.
std::string_view metric_word(HistoryMetric metric) {
  switch (metric) {
    case HistoryMetric::step:
      return "step";
    case HistoryMetric::get_next:
      return "get_next";
    case HistoryMetric::work:
      return "work";
    case HistoryMetric::iterator_work:
      return "iterator_work";
    case HistoryMetric::op_work:
      break;
  }
  return "op_work";
}

std::string time_text(double microseconds) {
  return format_time(static_cast<Picoseconds>(std::llround(microseconds * 1e6)));
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
  const auto found = std::find_if(series.changes.begin(), series.changes.end(),
                                  [&](const HistoryChange& change) { return change.entry == entry; });
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
  OrderedJson values = OrderedJson::array();
  for (const std::optional<double>& value : series.values) values.push_back(or_null(value));
  OrderedJson changes = OrderedJson::array();
  for (const HistoryChange& change : series.changes) {
    changes.push_back({{key::entry, change.entry},
                       {key::before_us, change.before},
                       {key::after_us, change.after},
                       {key::ratio, change.after / change.before}});
  }
  return {{key::metric, metric_word(series.metric)},
          {key::words, series.words},
          {key::source, source_json(series.source ? &*series.source : nullptr)},
          {key::values_us, std::move(values)},
          {key::changes, std::move(changes)}};
}

}  // namespace

std::string describe_change(const History& history, const HistorySeries& series, const HistoryChange& change) {
  const std::string line = series.source ? fmt::format(" ({})", to_text(*series.source)) : std::string();
  const bool is_part = series.metric == HistoryMetric::iterator_work || series.metric == HistoryMetric::op_work;
  return fmt::format("{}{}: {} -> {}{} ({:.3g}x) since {}", series.words, line, time_text(change.before),
                     time_text(change.after), is_part ? " of a step" : "", change.after / change.before,
                     name_of(history, change.entry));
}

std::string render_history_text(const History& history, PageWidth width) {
  if (history.entries.empty()) return "no whole run to show\n";
  std::string page = render_table_text(table_of_entries(history), format_count(history.entries.size(), "version"),
                                       history.entries.size(), width);
  // The latest first; at one entry in the order of the series, what the user feels before its parts.
  std::vector<std::tuple<std::size_t, const HistorySeries*, const HistoryChange*>> changes;
  for (const HistorySeries& series : history.series) {
    for (const HistoryChange& change : series.changes) changes.emplace_back(change.entry, &series, &change);
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const auto& a, const auto& b) { return std::get<0>(a) > std::get<0>(b); });
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
  OrderedJson entries = OrderedJson::array();
  for (const HistoryEntry& entry : history.entries) {
    entries.push_back({{key::label, text_or_null(entry.label)},
                       {key::machine, text_or_null(entry.machine)},
                       {key::recorded_at,
                        entry.recorded_ns == 0 ? OrderedJson(nullptr) : OrderedJson(to_timestamp(entry.recorded_ns))},
                       {key::recordings, entry.recordings}});
  }
  OrderedJson series = OrderedJson::array();
  for (const HistorySeries& one : history.series) series.push_back(series_json(one));
  return {{key::schema, "tfdata-doctor.history/1"},
          {key::tool, tool_json()},
          {key::entries, std::move(entries)},
          {key::series, std::move(series)}};
}

}  // namespace doctor
