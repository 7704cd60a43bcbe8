#include "report/html/page_parts.h"

namespace doctor {
namespace {

/// The evidence of a finding: what was measured.
void add_evidence(const OrderedJson& finding, HtmlWriter& page) {
  const OrderedJson& evidence = list_of(finding, key::evidence);
  if (evidence.empty()) return;
  page.open("ul");
  for (const OrderedJson& item : evidence) {
    page.element("li", fmt::format("{}: {}", title_of(text_of(item, key::name)),
                                   format_quantity(number_of(item, key::value), text_of(item, key::unit))));
  }
  page.close();
}

/// What the rule asked of this trace, number against threshold.
void add_questions(const OrderedJson& explanation, HtmlWriter& page) {
  for (const OrderedJson& inquiry : list_of(explanation, key::inquiries)) {
    if (text_of(inquiry, key::outcome) != "fired") continue;
    page.open("ul");
    for (const OrderedJson& question : list_of(inquiry, key::questions)) {
      page.element("li", text_of(question, key::question) + (is_true(question, key::holds) ? ": yes" : ": no"));
    }
    page.close();
    return;  // of several pipelines the worst
  }
}

/// Of a rule's page what it is about and when it is wrong; the rest of it is the same for every trace. Headings, lists
/// and paragraphs of Markdown; marks within a line stay as they are.
void add_rule_page(std::string_view markdown, HtmlWriter& page) {
  bool in_list = false;
  bool is_shown = true;
  std::string paragraph;
  const auto flush = [&](bool ends_list) {
    if (!paragraph.empty()) page.element(in_list ? "li" : "p", std::exchange(paragraph, {}));
    if (ends_list && std::exchange(in_list, false)) page.close();
  };
  for (const std::string_view line : split_lines(markdown)) {
    if (line.starts_with("# ")) continue;  // the rule's name
    if (line.starts_with("## ")) {
      flush(true);
      is_shown = line == "## When it is wrong";
      if (is_shown) page.element("h4", line.substr(3));
    } else if (!is_shown) {
      continue;
    } else if (line.starts_with("- ")) {
      flush(false);
      if (!std::exchange(in_list, true)) page.open("ul");
      paragraph = line.substr(2);
    } else if (line.empty()) {
      flush(true);
    } else {
      paragraph += (paragraph.empty() ? "" : " ") + std::string(line.substr(line.find_first_not_of(' ')));
    }
  }
  flush(true);
}

/// What the document "rules" says of it.
const OrderedJson* entry_of(const PageDocuments& documents, const std::string& rule) {
  const OrderedJson* const rules = find_document(documents, "rules");
  if (rules == nullptr) return nullptr;
  for (const OrderedJson& entry : list_of(*rules, key::rules)) {
    if (text_of(entry, key::rule) == rule) return &entry;
  }
  return nullptr;
}

/// The thresholds of a rule that were set, and its page.
void add_rule(const OrderedJson& rule, HtmlWriter& page) {
  OrderedJson set = list_of(rule, key::thresholds);
  std::erase_if(set.get_ref<OrderedJson::array_t&>(), [](const OrderedJson& threshold) {
    return number_of(threshold, key::value) == number_of(threshold, key::default_);
  });
  add_table(
      "thresholds that you set", {{"threshold"}, {"value", true}, {"default", true}, {"meaning"}}, set,
      [](const OrderedJson& threshold) -> std::vector<TableCell> {
        const std::string unit = text_of(threshold, key::unit);
        return {text_of(threshold, key::name), format_quantity(number_of(threshold, key::value), unit),
                format_quantity(number_of(threshold, key::default_), unit), text_of(threshold, key::meaning)};
      },
      page);
  add_rule_page(text_of(rule, key::page), page);
  add_note("Its thresholds, their sources and more: tfdata-doctor explain " + text_of(rule, key::rule), page);
}

void add_finding(const OrderedJson& finding, const PageDocuments& documents, HtmlWriter& page) {
  const std::string rule = text_of(finding, key::rule);
  page.open("details", {{"class", "finding"}, {"id", "finding-" + rule}});
  page.open("summary");
  page.element("strong", rule);
  page.text(fmt::format(" ({}): {}", text_of(finding, key::severity), text_of(finding, key::message)));
  page.close();
  if (const OrderedJson* const suppressed = find_value(finding, key::suppressed)) {
    page.element("p", "Suppressed: " + text_of(*suppressed, key::reason));
  }
  for (const OrderedJson& advice : list_of(finding, key::advice)) {
    page.element("p", text_of(advice, key::text));
    if (const std::string code = text_of(advice, key::code); !code.empty()) add_code(code, page);
  }
  add_references(finding, page);
  page.element("h4", "What was measured");
  add_evidence(finding, page);
  if (const OrderedJson* const explanation = find_document(documents, "explanation_" + rule))
    add_questions(*explanation, page);
  if (const OrderedJson* const entry = entry_of(documents, rule)) add_rule(*entry, page);
  page.close();
}

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
  page.element("p", "Not all of the trace could be used: " + describe_loss(*loss) + ".");
  page.open("ul");
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

void add_findings_section(const OrderedJson& report, const PageDocuments& documents, HtmlWriter& page) {
  if (list_of(report, key::findings).empty()) return;
  open_folded_section("findings", "Findings, and why", page);
  std::string last;
  for (const OrderedJson& finding : list_of(report, key::findings)) {
    // Several findings of one rule have one explanation.
    const std::string rule = text_of(finding, key::rule);
    if (std::exchange(last, rule) == rule) {
      page.element("p", text_of(finding, key::message));
      continue;
    }
    add_finding(finding, documents, page);
  }
  page.close(2);
}

void add_recording_section(const OrderedJson& report, const PageDocuments& documents, HtmlWriter& page) {
  open_folded_section("recording", "What this page is made from", page);
  const OrderedJson& trace = report[key::trace];
  add_files(trace, page);
  add_loss(trace, page);
  if (find_document(documents, "steps") == nullptr) {
    page.element("p",
                 "Steps, ops and memory need a second reading, which a trace this large does not get for a page: "
                 "tfdata-doctor show steps, show ops and show memory have them.");
  }
  add_confidence(report, page);
  add_table(
      "rules that could not be evaluated on this trace", {{"rule"}, {"why"}}, list_of(report, key::not_evaluated),
      [](const OrderedJson& rule) -> std::vector<TableCell> {
        return {text_of(rule, key::rule), text_of(rule, key::reason)};
      },
      page);
  page.close(2);
}

}  // namespace doctor
