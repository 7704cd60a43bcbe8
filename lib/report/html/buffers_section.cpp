#include "report/html/page_parts.h"

namespace doctor {
namespace {

constexpr std::size_t kMostCharts = 12;

/// An attribute that changes while the job runs, of one stage.
struct Series {
  const OrderedJson* stage = nullptr;
  const OrderedJson* history = nullptr;
};

/// Parallelism and fill of the buffers, where they are numbers and change.
std::vector<Series> changing_series(const OrderedJson& pipeline) {
  std::vector<Series> series;
  for (const OrderedJson& stage : list_of(pipeline, key::stages)) {
    for (const OrderedJson& history : list_of(stage, key::history)) {
      const std::string attribute = text_of(history, key::attribute);
      const bool is_shown =
          attribute == "parallelism" || attribute == "buffered_elements" || attribute == "buffer_limit";
      if (!is_shown || list_of(history, key::changes).empty() || !known_number(history, key::first)) continue;
      series.push_back({&stage, &history});
    }
  }
  return series;
}

void add_series(const Series& series, double window, HtmlWriter& page) {
  const OrderedJson& history = *series.history;
  const std::string attribute = title_of(text_of(history, key::attribute));
  LevelChart chart;
  chart.length = window;
  chart.top = std::max(1.0, number_of(history, key::max));
  chart.top_label =
      fmt::format("{} of {}: {} at most, {} on average", attribute, shortened(text_of(*series.stage, key::stage)),
                  words_in(history, key::max), words_in(history, key::mean));
  chart.description = chart.top_label + ", over the time of the recording";
  chart.look = "s2";
  double start = 0;
  double level = number_of(history, key::first);
  const auto add_until = [&](double end) {
    chart.spans.push_back({start, end, level, fmt::format("{} {}", attribute, format_number(level))});
    start = end;
  };
  for (const OrderedJson& change : list_of(history, key::changes)) {
    add_until(std::min(window, number_of(change, key::time_us)));
    level = number_of(change, key::value);
  }
  add_until(window);
  add_chart(chart, page);
}

}  // namespace

void add_buffers_section(const PageDocuments& documents, HtmlWriter& page) {
  const OrderedJson* const autotune = documents.find("autotune");
  if (autotune == nullptr) return;
  const OrderedJson* const report = documents.find("report");
  double window = report == nullptr ? 0 : number_of((*report)[key::trace], key::window_us);
  std::vector<Series> all;
  for (const OrderedJson& pipeline : list_of(*autotune, key::pipelines)) {
    for (const Series& series : changing_series(pipeline)) {
      all.push_back(series);
      window = std::max(window, number_of(list_of(*series.history, key::changes).back(), key::time_us));
    }
  }
  const std::optional<double> limit = known_number(*autotune, key::history_limit_bytes);
  if (all.empty() && !limit) return;
  open_folded_section("buffers", "Parallelism and buffers over time", page);
  if (limit) {
    page.element("p", "Left out: this page has them for files of up to " +
                          format_bytes(static_cast<std::uint64_t>(*limit)) +
                          ". The command \"tfdata-doctor show autotune\" has them for every file.");
  }
  if (all.empty()) return close_folded_section(page);
  for (std::size_t index = 0; index < std::min(all.size(), kMostCharts); ++index) {
    add_series(all[index], window, page);
  }
  if (all.size() > kMostCharts) {
    page.element("p",
                 fmt::format("{} more are left out.", format_number(static_cast<double>(all.size() - kMostCharts))));
  }
  add_table(
      "parallelism and buffers",
      {{"stage"}, {"attribute"}, {"first", true}, {"last", true}, {"min", true}, {"mean", true}, {"max", true}}, all,
      [](const Series& series) {
        std::vector<TableCell> row = {shortened(text_of(*series.stage, key::stage)),
                                      title_of(text_of(*series.history, key::attribute))};
        for (const auto key : {key::first, key::last, key::min, key::mean, key::max}) {
          row.emplace_back(words_in(*series.history, key));
        }
        return row;
      },
      page);
  close_folded_section(page);
}

}  // namespace doctor
