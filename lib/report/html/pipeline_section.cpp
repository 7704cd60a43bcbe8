#include <fmt/format.h>

#include <map>
#include <string>

#include "report/html/page_parts.h"
#include "report/html/page_sections.h"
#include "report/html/pipeline_drawing.h"
#include "text/document_keys.h"
#include "text/numbers.h"

namespace doctor {

void add_pipeline_section(const PageDocuments& documents, HtmlWriter& page) {
  const OrderedJson* const report = documents.find("report");
  if (report == nullptr) return;
  const std::vector<const OrderedJson*> pipelines = drawn_pipelines(*report);
  if (pipelines.empty()) return;
  open_section("pipeline", "The pipeline, in the order of your code", page);
  page.element("p", {{"class", "muted"}},
               "A circle runs on the thread that asks for its output; a square has threads and a buffer of its own. "
               "Filled: the part of the wait that this stage holds. Hollow: the work that it does for a step, waited "
               "for or not. What sets the pace need not be where the loop waits: a stage after it waits for it, too.");
  std::map<std::string, std::string> drawn;  // by their stages: of pipelines that are alike the worst is drawn
  for (const OrderedJson* pipeline : pipelines) {
    const auto [first, is_new] = drawn.try_emplace(long_names_of(list_of(*pipeline, key::iterators)),
                                                   pipeline_words(*pipeline, pipelines.size()));
    if (!is_new) {
      page.element("p", fmt::format("{} has the same stages as: {}.", pipeline_words(*pipeline, pipelines.size()),
                                    first->second));
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
