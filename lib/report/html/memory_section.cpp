#include <fmt/format.h>

#include <algorithm>

#include "report/html/page_parts.h"
#include "report/html/page_sections.h"
#include "report/html/picture.h"
#include "text/numbers.h"

namespace doctor {
namespace {

constexpr double kMicrosecondsPerSecond = 1e6;

std::string bytes_words(double bytes) {
  return format_bytes(static_cast<std::uint64_t>(std::max(0.0, bytes)));
}

void add_allocator(const OrderedJson& allocator, HtmlWriter& page) {
  const OrderedJson* const peak = find_value(allocator, "peak");
  const OrderedJson& timeline = list_of(allocator, "timeline");
  page.element(
      "h3", fmt::format("{} on {}", shortened(text_of(allocator, "allocator")), shortened(text_of(allocator, "host"))));
  if (!timeline.empty()) {
    LevelChart chart;
    chart.start = number_of(timeline.front(), "start_us");
    chart.length = number_of(timeline.back(), "end_us") - chart.start;
    chart.look = "s3";
    for (std::size_t index = 0; index < timeline.size(); ++index) {
      // What is in use after the last change of a span stays until the next one.
      const bool is_last = index + 1 == timeline.size();
      const double end = is_last ? number_of(timeline[index], "end_us") : number_of(timeline[index + 1], "start_us");
      const double level = number_of(timeline[index], "most_bytes");
      chart.top = std::max(chart.top, level);
      chart.spans.push_back({number_of(timeline[index], "start_us"), end, level, bytes_words(level)});
    }
    chart.top_label = bytes_words(chart.top) + " at most in the window";
    chart.description = "Memory in use over time, " + chart.top_label;
    add_chart(chart, page);
  }
  if (peak == nullptr) return;
  add_table(table_of("who held the peak of " + text_of(allocator, "allocator"), list_of(*peak, "allocations")), page);
}

/// The memory of the recorded process over its steps.
void add_process(const OrderedJson& process, HtmlWriter& page) {
  const OrderedJson& timeline = list_of(process, "over_time");
  const OrderedJson* const growth = find_value(process, "growth");
  page.element("h3", "the process on " + shortened(text_of(process, "host")));
  LevelChart chart;
  chart.look = "s3";
  chart.top = number_of(process, "most_rss_bytes");
  for (std::size_t index = 0; index < timeline.size(); ++index) {
    const double start = number_of(timeline[index], "time_s") * kMicrosecondsPerSecond;
    const double end = number_of(timeline[std::min(index + 1, timeline.size() - 1)], "time_s") * kMicrosecondsPerSecond;
    const double level = number_of(timeline[index], "rss_bytes");
    chart.length = std::max(chart.length, end);
    chart.spans.push_back(
        {start, end, level, fmt::format("step {}: {}", number_of(timeline[index], "step"), bytes_words(level))});
  }
  chart.top_label = bytes_words(chart.top) + " at most, from the begin of the process to the end of the recording";
  chart.description = "Memory of the process over time, " + chart.top_label;
  add_chart(chart, page);
  page.element(
      "p",
      fmt::format("{} in tf.data's buffers; {} in all when those with a limit are full; {} of {} left.",
                  bytes_words(number_of(process, "buffers_bytes")), bytes_words(number_of(process, "when_full_bytes")),
                  bytes_words(number_of(process, "available_bytes")), bytes_words(number_of(process, "total_bytes"))));
  if (growth == nullptr || !growth->is_object() || !known_number(*growth, "steps_left")) return;
  page.element("p", fmt::format("It grows by {} a step: what is left is used up in {} more.",
                                bytes_words(number_of(*growth, "bytes_per_step")),
                                format_count(static_cast<std::uint64_t>(number_of(*growth, "steps_left")), "step")));
}

}  // namespace

void add_memory_section(const PageDocuments& documents, HtmlWriter& page) {
  const OrderedJson* const memory = documents.find("memory");
  if (memory == nullptr || (list_of(*memory, "allocators").empty() && list_of(*memory, "processes").empty())) return;
  // Machines without a GPU have allocators, too.
  const OrderedJson& allocators = list_of(*memory, "allocators");
  const bool is_of_gpus = std::any_of(allocators.begin(), allocators.end(), [](const OrderedJson& allocator) {
    return text_of(allocator, "allocator").find("GPU") != std::string::npos;
  });
  open_folded_section("memory", is_of_gpus ? "Memory of the GPUs" : "Memory", page);
  for (const OrderedJson& process : list_of(*memory, "processes")) add_process(process, page);
  for (const OrderedJson& allocator : list_of(*memory, "allocators")) add_allocator(allocator, page);
  if (const double others = number_of(*memory, "allocators_left_out"); others > 0) {
    page.element("p", format_number(others) + " more allocators are left out.");
  }
  close_folded_section(page);
}

}  // namespace doctor
