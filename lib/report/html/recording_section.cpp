#include "report/html/page_parts.h"

namespace doctor {
namespace {

void add_files(const OrderedJson& trace, HtmlWriter& page) {
  page.open("ul");
  for (const OrderedJson& file : list_of(trace, key::files)) {
    page.element("li", fmt::format("{}: {}, {}", shortened(text_of(file, key::path)), text_of(file, key::format),
                                   words_of("bytes", file[key::bytes])));
  }
  page.close();
  page.element("p", fmt::format("{} events, {} of them of tf.data, in {}.", words_of("events", trace[key::events]),
                                words_of("events", trace[key::iterator_events]), words_in(trace, key::window_us)));
}

/// What could not be read, counted.
void add_loss(const OrderedJson& trace, HtmlWriter& page) {
  const OrderedJson* const loss = find_value(trace, key::loss);
  if (loss == nullptr) return;
  if (is_true(*loss, key::complete)) {
    page.element("p", "Nothing of the trace was lost.");
    return;
  }
  page.element("p", "Not all of the trace could be used:");
  page.open("ul");
  for (const auto& [reason, count] : loss->items()) {
    if (reason != "complete") page.element("li", fmt::format("{}: {}", title_of(reason), words_of("count", count)));
  }
  for (const OrderedJson& note : list_of(trace, key::loss_notes)) page.element("li", note.get<std::string>());
  page.close();
}

/// The parts whose product is the confidence.
void add_confidence(const OrderedJson& report, HtmlWriter& page) {
  PageTable table = {"the parts of the confidence, whose product it is", {{"pipeline"}, {"part"}, {"value", true}}, {}};
  for (const OrderedJson* const pipeline : drawn_pipelines(report)) {
    const OrderedJson* const confidence = find_value(*pipeline, key::confidence);
    if (confidence == nullptr) continue;
    for (const auto& [part, value] : confidence->items()) {
      table.rows.push_back({text_of(*pipeline, key::id), part, words_of("share", value)});
    }
  }
  add_table(table, page);
}

}  // namespace

void add_recording_section(const PageDocuments& documents, HtmlWriter& page) {
  const OrderedJson* const report = documents.find("report");
  if (report == nullptr) return;
  open_folded_section("recording", "What this page is made from", page);
  const OrderedJson& trace = (*report)[key::trace];
  add_files(trace, page);
  add_loss(trace, page);
  if (documents.find("steps") == nullptr) {
    page.element("p",
                 "Steps, ops and memory need a second reading, which a trace this large does not get for a page: "
                 "tfdata-doctor show steps, show ops and show memory have them.");
  }
  add_confidence(*report, page);
  add_table(
      "rules that could not be evaluated on this trace", {{"rule"}, {"why"}}, list_of(*report, key::not_evaluated),
      [](const OrderedJson& rule) -> std::vector<TableCell> {
        return {text_of(rule, key::rule), text_of(rule, key::reason)};
      },
      page);
  close_folded_section(page);
}

}  // namespace doctor
