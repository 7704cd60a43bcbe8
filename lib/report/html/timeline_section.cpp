#include <fmt/format.h>

#include <vector>

#include "report/html/page_parts.h"
#include "report/html/page_sections.h"
#include "report/html/timeline_drawing.h"
#include "text/document_keys.h"
#include "text/numbers.h"

namespace doctor {
namespace {

std::string title_of_window(const OrderedJson& window) {
  const std::string number = format_number(number_of(window, key::number));
  const std::string kind = text_of(window, key::kind);
  return kind == "typical_steps"  ? "Typical steps, from call " + number + " on"
         : kind == "median_call"  ? "The median call, " + number + ", and as long before it"
         : kind == "longest_call" ? "The longest call, " + number
         : kind == "step"         ? "Step " + number
                                  : "Call " + number;
}

/// Typical steps and the longest call; the median one only where no steps are typical. Of the longest calls the first
/// is drawn with all threads, the others as strips.
void draw_windows(const OrderedJson& pipeline, TimelineDrawing& drawing) {
  drawing.add_key();
  std::vector<const OrderedJson*> longest;
  for (const OrderedJson& window : list_of(pipeline, key::windows)) {
    const bool is_longest = text_of(window, key::kind) == "longest_call";
    for (const OrderedJson& call : list_of(window, key::calls)) {
      if (is_longest) longest.push_back(&call);
    }
    if (!is_longest || !list_of(window, key::lanes).empty()) drawing.add_window(window, title_of_window(window));
  }
  drawing.add_calls(longest);
}

}  // namespace

void add_timeline_section(const PageDocuments& documents, HtmlWriter& page) {
  const OrderedJson* const timeline = documents.find("timeline");
  if (timeline == nullptr || list_of(*timeline, key::pipelines).empty()) return;
  open_section("timeline", "Who waits for whom", page);
  const OrderedJson& pipelines = list_of(*timeline, key::pipelines);
  const auto others = static_cast<std::size_t>(number_of(*timeline, key::pipelines_left_out));
  const std::size_t all = pipelines.size() + others;
  for (std::size_t number = 0; number < pipelines.size(); ++number) {
    // The worst comes first; the others are for who wants to see them.
    const std::string words = pipeline_words(pipelines[number], all);
    if (number == 1) page.open("details");
    if (number == 1) page.element("summary", format_count(pipelines.size() - 1, "more pipeline"));
    if (!words.empty()) page.element("h3", words);
    TimelineDrawing drawing(pipelines[number], fmt::format("/timeline/pipelines/{}", number), documents.find("report"),
                            page);
    draw_windows(pipelines[number], drawing);
  }
  if (pipelines.size() > 1) page.close();
  if (others > 0) {
    page.element("p", {{"class", "muted"}},
                 fmt::format("Not drawn: {} more; those of the same stages that wait as long look alike. "
                             "tfdata-doctor show timeline draws them.",
                             format_count(others, "pipeline")));
  }
  page.close();
}

}  // namespace doctor
