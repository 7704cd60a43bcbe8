#include <fmt/format.h>

#include <map>
#include <string>

#include "report/html/page_parts.h"
#include "report/html/page_sections.h"
#include "report/html/pipeline_drawing.h"
#include "text/document_keys.h"
#include "text/numbers.h"

namespace doctor {
namespace {

/// "Pipeline 0:0 on vm has the same stages as pipeline 1:1, but waits 0.9 % of the time, not 52 %."
std::string words_of_likeness(const OrderedJson& pipeline, const OrderedJson& first, std::size_t count) {
  const std::string words =
      fmt::format("{} has the same stages as pipeline {}", pipeline_words(pipeline, count), text_of(first, key::id));
  const double share = number_of(pipeline, key::input_share);
  const double share_of_first = number_of(first, key::input_share);
  if (waits_alike(share, share_of_first)) return words + " and waits about as long.";
  return words + fmt::format(", but waits {} of the time, not {}.", format_share(share), format_share(share_of_first));
}

}  // namespace

void add_pipeline_section(const PageDocuments& documents, HtmlWriter& page) {
  const OrderedJson* const report = documents.find("report");
  if (report == nullptr) return;
  const std::vector<const OrderedJson*> pipelines = drawn_pipelines(*report);
  if (pipelines.empty()) return;
  open_section("pipeline", "The pipeline, in the order of your code", page);
  page.element("p", {{"class", "muted"}},
               "A circle runs on the thread that asks for its output; a square has threads and a buffer of its own.");
  std::map<std::string, const OrderedJson*> drawn;  // by their stages: of pipelines that are alike the worst is drawn
  for (const OrderedJson* pipeline : pipelines) {
    const auto [first, is_new] = drawn.try_emplace(long_names_of(list_of(*pipeline, key::iterators)), pipeline);
    if (!is_new) {
      page.element("p", words_of_likeness(*pipeline, *first->second, pipelines.size()));
      continue;
    }
    const std::string words = pipeline_words(*pipeline, pipelines.size());
    if (!words.empty()) page.element("h3", words);
    const auto number = static_cast<std::size_t>(pipeline - &list_of(*report, key::pipelines).front());
    PipelineDrawing(*pipeline, fmt::format("/report/pipelines/{}", number), documents.find("autotune"), page).draw();
  }
  const double others = number_of(*report, key::pipelines_left_out);
  if (others > 0) page.element("p", fmt::format("{} more pipelines are left out.", format_number(others)));
  page.close();
}

}  // namespace doctor
