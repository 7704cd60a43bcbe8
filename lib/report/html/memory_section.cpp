#include <fmt/format.h>

#include <algorithm>

#include "report/html/page_parts.h"
#include "report/html/page_sections.h"
#include "report/html/picture.h"
#include "text/numbers.h"

namespace doctor {
namespace {

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

}  // namespace

void add_memory_section(const PageDocuments& documents, HtmlWriter& page) {
  const OrderedJson* const memory = documents.find("memory");
  if (memory == nullptr || list_of(*memory, "allocators").empty()) return;
  // Machines without a GPU have allocators, too.
  const OrderedJson& allocators = list_of(*memory, "allocators");
  const bool is_of_gpus = std::any_of(allocators.begin(), allocators.end(), [](const OrderedJson& allocator) {
    return text_of(allocator, "allocator").find("GPU") != std::string::npos;
  });
  open_folded_section("memory", is_of_gpus ? "Memory of the GPUs" : "Memory", page);
  for (const OrderedJson& allocator : list_of(*memory, "allocators")) add_allocator(allocator, page);
  if (const double others = number_of(*memory, "allocators_left_out"); others > 0) {
    page.element("p", format_number(others) + " more allocators are left out.");
  }
  close_folded_section(page);
}

}  // namespace doctor
