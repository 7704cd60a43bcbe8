#include "report/html/page_parts.h"

namespace doctor {
namespace {

constexpr std::size_t kMostSeries = 12;

std::string name_of_entry(const OrderedJson& entry, std::size_t number) {
  const std::string label = shortened(text_of(entry, key::label), 40);
  const std::string day = text_of(entry, key::recorded_at).substr(0, 10);
  if (label.empty()) return day.empty() ? fmt::format("version {}", number + 1) : day;
  return day.empty() ? label : label + " of " + day;
}

std::string words_of_time(const OrderedJson& microseconds) {
  return microseconds.is_number() ? format_time(from_microseconds(microseconds.get<double>())) : std::string("-");
}

/// The whole step, and of its parts those that changed.
std::vector<const OrderedJson*> drawn_series(const OrderedJson& history) {
  std::vector<const OrderedJson*> drawn;
  for (const OrderedJson& series : list_of(history, key::series)) {
    const std::string metric = text_of(series, key::metric);
    const bool is_part = metric == "iterator_work" || metric == "op_work";
    if (drawn.size() < kMostSeries && (!is_part || !list_of(series, key::changes).empty())) drawn.push_back(&series);
  }
  return drawn;
}

/// "1.20 ms -> 2.40 ms (x2.00) since 3f2a1c of 2026-11-20".
std::string describe_change(const OrderedJson& change, const OrderedJson& entries) {
  const auto at = static_cast<std::size_t>(number_of(change, key::entry));
  const std::string since = at < entries.size() ? name_of_entry(entries[at], at) : fmt::format("version {}", at + 1);
  return fmt::format("{} \u2192 {} (x{:.3g}) since {}", words_of_time(change[key::before_us]),
                     words_of_time(change[key::after_us]), number_of(change, key::ratio), since);
}

/// A dot for each version, and a dashed line where the number becomes another one.
void add_dots(const OrderedJson& series, const OrderedJson& entries, HtmlWriter& page) {
  DotChart chart;
  chart.description = text_of(series, key::words) + ": a dot for each version, the oldest on the left";
  const OrderedJson& values = list_of(series, key::values_us);
  for (std::size_t index = 0; index < values.size(); ++index) {
    const std::string name =
        index < entries.size() ? name_of_entry(entries[index], index) : fmt::format("version {}", index + 1);
    chart.dots.push_back(
        {values[index].is_number() ? values[index].get<double>() : -1, name + ": " + words_of_time(values[index])});
  }
  for (const OrderedJson& change : list_of(series, key::changes)) {
    chart.marks.push_back(static_cast<std::size_t>(number_of(change, key::entry)));
  }
  add_chart(chart, page);
}

void add_table_of_versions(const std::vector<const OrderedJson*>& drawn, const OrderedJson& entries, HtmlWriter& page) {
  PageTable table = {"Each version", {{"version"}, {"recordings", true}}, {}};
  for (const OrderedJson* const series : drawn)
    table.titles.push_back({shortened(text_of(*series, key::words), 60), true});
  for (std::size_t index = 0; index < entries.size(); ++index) {
    std::vector<TableCell> row = {{name_of_entry(entries[index], index)},
                                  {words_in(entries[index], key::recordings), true}};
    for (const OrderedJson* const series : drawn) {
      const OrderedJson& values = list_of(*series, key::values_us);
      row.push_back({index < values.size() ? words_of_time(values[index]) : std::string("-"), true});
    }
    table.rows.push_back(std::move(row));
  }
  add_table(table, page);
}

}  // namespace

void add_history_section(const PageDocuments& documents, HtmlWriter& page) {
  const OrderedJson* const history = documents.find("history");
  if (history == nullptr) return;
  const OrderedJson& entries = list_of(*history, key::entries);
  const std::vector<const OrderedJson*> drawn = drawn_series(*history);
  if (entries.size() < 2 || drawn.empty()) return;
  open_section("history", "Over the versions of the baseline", page);
  add_note(
      "Each dot is the median of a version's recordings, from nothing at the bottom; a dashed line is where "
      "a number became another one for good.",
      page);
  for (const OrderedJson* const series : drawn) {
    page.element("h3", shortened(text_of(*series, key::words)));
    for (const OrderedJson& change : list_of(*series, key::changes))
      page.element("p", describe_change(change, entries));
    add_dots(*series, entries, page);
  }
  add_table_of_versions(drawn, entries, page);
  page.close();
}

}  // namespace doctor
