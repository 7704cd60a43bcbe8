#include "report/html/page_parts.h"

namespace doctor {
namespace {

constexpr double kMicrosecondsPerSecond = 1e6;

std::string bytes_words(double bytes) {
  return format_bytes(static_cast<std::uint64_t>(std::max(0.0, bytes)));
}

StackedColumn level_of(double level, std::string look, std::string title, double start, double length) {
  return {{{level, std::move(look)}}, std::move(title), {}, false, start, length};
}

void add_allocator(const OrderedJson& allocator, HtmlWriter& page) {
  const OrderedJson* const peak = find_value(allocator, key::peak);
  const OrderedJson& timeline = list_of(allocator, key::timeline);
  page.element("h3", fmt::format("{} on {}", shortened(text_of(allocator, key::allocator)),
                                 shortened(text_of(allocator, key::host))));
  if (!timeline.empty()) {
    ColumnChart chart;
    const double first = number_of(timeline.front(), key::start_us);
    chart.time = number_of(timeline.back(), key::end_us) - first;
    for (std::size_t index = 0; index < timeline.size(); ++index) {
      // What is in use after the last change of a span stays until the next one.
      const bool is_last = index + 1 == timeline.size();
      const double start = number_of(timeline[index], key::start_us);
      const double end =
          is_last ? number_of(timeline[index], key::end_us) : number_of(timeline[index + 1], key::start_us);
      const double level = number_of(timeline[index], key::most_bytes);
      chart.top = std::max(chart.top, level);
      chart.columns.push_back(level_of(level, "s3", bytes_words(level), start - first, end - start));
    }
    chart.top_label = bytes_words(chart.top) + " at most in the window";
    chart.description = "Memory in use over time, " + chart.top_label;
    add_chart(chart, page);
  }
  if (peak == nullptr) return;
  add_table(table_of("who held the peak of " + text_of(allocator, key::allocator), list_of(*peak, key::allocations)),
            page);
}

/// The memory of the recorded process over its steps.
void add_process(const OrderedJson& process, HtmlWriter& page) {
  const OrderedJson& timeline = list_of(process, key::over_time);
  const OrderedJson* const growth = find_value(process, key::growth);
  page.element("h3", "the process on " + shortened(text_of(process, key::host)));
  ColumnChart chart;
  chart.time = 0;
  chart.top = number_of(process, key::most_rss_bytes);
  for (std::size_t index = 0; index < timeline.size(); ++index) {
    const double start = number_of(timeline[index], key::time_s) * kMicrosecondsPerSecond;
    const double end =
        number_of(timeline[std::min(index + 1, timeline.size() - 1)], key::time_s) * kMicrosecondsPerSecond;
    const double level = number_of(timeline[index], key::rss_bytes);
    chart.time = std::max(*chart.time, end);
    const std::string words = fmt::format("step {}: {}", number_of(timeline[index], key::step), bytes_words(level));
    chart.columns.push_back(level_of(level, "s3", words, start, end - start));
  }
  chart.top_label = bytes_words(chart.top) + " at most, from the begin of the process to the end of the recording";
  chart.description = "Memory of the process over time, " + chart.top_label;
  add_chart(chart, page);
  page.element("p", fmt::format("{} in tf.data's buffers; {} in all when those with a limit are full; {} of {} left.",
                                words_in(process, key::buffers_bytes), words_in(process, key::when_full_bytes),
                                words_in(process, key::available_bytes), words_in(process, key::total_bytes)));
  if (growth == nullptr || !growth->is_object() || !known_number(*growth, key::steps_left)) return;
  const auto whole = [](const OrderedJson& object, std::string_view name) {
    return static_cast<std::uint64_t>(number_of(object, name));
  };
  page.element("p",
               fmt::format("It grows by {}.",
                           growth_words({whole(*growth, key::first_step), whole(*growth, key::last_step),
                                         number_of(*growth, key::bytes_per_step), whole(process, key::available_bytes),
                                         number_of(*growth, key::steps_left)})));
}

constexpr std::size_t kMostCharts = 6;

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
  ColumnChart chart;
  chart.time = window;
  chart.top = std::max(1.0, number_of(history, key::max));
  chart.top_label =
      fmt::format("{} of {}: {} at most, {} on average", attribute, shortened(text_of(*series.stage, key::stage)),
                  words_in(history, key::max), words_in(history, key::mean));
  chart.description = chart.top_label + ", over the time of the recording";
  double start = 0;
  double level = number_of(history, key::first);
  const auto add_until = [&](double end) {
    const std::string words = fmt::format("{} {}", attribute, format_number(level));
    chart.columns.push_back(level_of(level, "s2", words, start, end - start));
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

void add_memory_section(const OrderedJson& memory, const PageDocuments& /*documents*/, HtmlWriter& page) {
  if ((list_of(memory, key::allocators).empty() && list_of(memory, key::processes).empty())) return;
  // Machines without a GPU have allocators, too.
  const OrderedJson& allocators = list_of(memory, key::allocators);
  const bool is_of_gpus = std::ranges::any_of(allocators, [](const OrderedJson& allocator) {
    return text_of(allocator, key::allocator).find("GPU") != std::string::npos;
  });
  open_folded_section("memory", is_of_gpus ? "Memory of the GPUs" : "Memory", page);
  for (const OrderedJson& process : list_of(memory, key::processes)) add_process(process, page);
  for (const OrderedJson& allocator : list_of(memory, key::allocators)) add_allocator(allocator, page);
  add_left_out(number_of(memory, "allocators_left_out"), "allocator", page);
  page.close(2);
}

void add_buffers_section(const OrderedJson& autotune, const PageDocuments& documents, HtmlWriter& page) {
  const OrderedJson* const report = find_document(documents, "report");
  double window = report == nullptr ? 0 : number_of((*report)[key::trace], key::window_us);
  std::vector<Series> all;
  for (const OrderedJson& pipeline : list_of(autotune, key::pipelines)) {
    for (const Series& series : changing_series(pipeline)) {
      all.push_back(series);
      window = std::max(window, number_of(list_of(*series.history, key::changes).back(), key::time_us));
    }
  }
  const std::optional<double> limit = known_number(autotune, key::history_limit_bytes);
  if (all.empty() && !limit) return;
  open_folded_section("buffers", "Parallelism and buffers over time", page);
  if (limit) {
    page.element("p", "Left out: this page has them for files of up to " +
                          format_bytes(static_cast<std::uint64_t>(*limit)) +
                          ". The command \"tfdata-doctor show autotune\" has them for every file.");
  }
  if (all.empty()) return page.close(2);
  for (std::size_t index = 0; index < std::min(all.size(), kMostCharts); ++index) {
    add_series(all[index], window, page);
  }
  add_left_out(static_cast<double>(all.size()) - kMostCharts, "attribute", page);
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
  page.close(2);
}

}  // namespace doctor
