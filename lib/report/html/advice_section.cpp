#include "report/html/page_parts.h"
#include "words/throughput_words.h"

namespace doctor {
namespace {

constexpr std::size_t kMostAdvice = 4;           // as in the text report
constexpr std::size_t kMostFindingsAdvised = 2;  // where no change is known

/// An advice of a finding, and where it is in the report.
struct ShownAdvice {
  const OrderedJson* finding = nullptr;
  const OrderedJson* advice = nullptr;  ///< a change of the report, or the advice of a finding
  std::string pointer;                  ///< of the advice, into the page's data
  std::size_t number = 0;               ///< as "with changes 1 + 2" counts them; 0: an alternative to one before it
  bool is_unproven = false;             ///< it may bring nothing
};

/// The first sentences of findings of a report without changes: of notes, too, where there is nothing else, as on a
/// device that waits for what the input has no part in.
std::vector<ShownAdvice> advice_of_findings(const OrderedJson& findings, bool are_notes) {
  std::vector<ShownAdvice> shown;
  for (std::size_t finding = 0; finding < findings.size() && shown.size() < kMostFindingsAdvised; ++finding) {
    const OrderedJson& list = list_of(findings[finding], key::advice);
    const bool counts = find_value(findings[finding], key::suppressed) == nullptr;
    if (list.empty() || (text_of(findings[finding], key::severity) == "note") != are_notes || !counts) continue;
    shown.push_back(
        {&findings[finding], &list[0], fmt::format("/report/findings/{}/advice/0", finding), shown.size() + 1, false});
  }
  return shown;
}

/// The changes in the order of the report; where there is none, the first sentence of each finding.
std::vector<ShownAdvice> advice_of(const OrderedJson& report) {
  std::vector<ShownAdvice> shown;
  std::size_t number = 0;
  const OrderedJson& findings = list_of(report, key::findings);
  for (const std::string_view list : {"changes", "unproven_changes"}) {
    const OrderedJson& changes = list_of(report, list);
    for (std::size_t index = 0; index < changes.size(); ++index) {
      const OrderedJson& change = changes[index];
      const auto finding = static_cast<std::size_t>(number_of(change, key::finding));
      if (is_true(change, key::suppressed) || finding >= findings.size()) continue;
      const bool is_alternative = find_value(change, key::instead_of) != nullptr;
      shown.push_back({&findings[finding], &change, fmt::format("/report/{}/{}", list, index),
                       is_alternative ? 0 : ++number, list == "unproven_changes"});
    }
  }
  if (!shown.empty()) return shown;
  shown = advice_of_findings(findings, false);
  return shown.empty() ? advice_of_findings(findings, true) : shown;
}

/// The predicted factor with its interval, what it depends on, and what limits then.
void add_gain(const ShownAdvice& advice, HtmlWriter& page) {
  const OrderedJson* const gain = find_value(*advice.advice, key::gain);
  if (gain == nullptr) return;
  const double factor = number_of(*gain, key::factor);
  page.open("p");
  const double after = number_of(*gain, key::steps_per_s);
  if (factor > 0) page.text(format_steps_per_s(after / factor) + " \u2192 ");
  add_number(format_steps_per_s(after), after, advice.pointer + "/gain/steps_per_s", page);
  page.text(" steps/s, ");
  add_number(format_factor(factor), factor, advice.pointer + "/gain/factor", page);
  page.text(fmt::format(" ({} to {})", format_factor(number_of(*gain, key::low)),
                        format_factor(number_of(*gain, key::high))));
  if (const std::string condition = text_of(*gain, key::condition); !condition.empty()) {
    page.text(fmt::format(", {}", describe_condition(condition)));
  }
  page.text("; after that the limit is " + text_of(*gain, key::then_limited_by));
  page.close();
}

/// Where to make it: the user's name of the step, and the line if it is known.
std::string place_of_change(const ShownAdvice& advice, const OrderedJson& report) {
  std::string place;
  for (const OrderedJson& fix : list_of(*advice.advice, key::fixes)) {
    place = name_in_report(report, text_of(fix, key::iterator));
    if (!place.empty()) break;
  }
  if (const OrderedJson* const source = find_value(*advice.finding, key::source)) {
    place +=
        fmt::format("{}{}:{}", place.empty() ? "" : ", ", text_of(*source, key::file), number_of(*source, key::line));
  }
  return shortened(place);
}

/// Which versions of TensorFlow run the code, as the advice of the finding says.
std::string versions_of(const ShownAdvice& advice) {
  const OrderedJson& all = list_of(*advice.finding, key::advice);
  const auto index = static_cast<std::size_t>(number_of(*advice.advice, key::advice));
  return text_of(index < all.size() ? all[index] : *advice.advice, key::versions);
}

void add_shown_advice(const ShownAdvice& advice, const OrderedJson& report, HtmlWriter& page) {
  if (advice.number > 0) {
    page.open("li", {{"value", advice.number}});
  } else {
    page.open("li", {{"class", "or"}});
  }
  if (advice.is_unproven) page.element("p", "This may bring nothing: the trace shows no end of an epoch.");
  page.element("p", (advice.number > 0 ? "" : "Or: ") + text_of(*advice.advice, key::text));
  if (const std::string code = text_of(*advice.advice, key::code); !code.empty()) add_code(code, page);
  if (const std::string versions = versions_of(advice); !versions.empty()) {
    add_note(versions, page);
  }
  add_gain(advice, page);
  page.open("p", {{"class", "muted"}});
  if (const std::string place = place_of_change(advice, report); !place.empty()) page.text("At " + place + ". ");
  const std::string rule = text_of(*advice.finding, key::rule);
  page.element("a", {{"href", "#finding-" + rule}}, rule);
  page.text(": " + text_of(*advice.finding, key::message));
  page.close();
  add_references(*advice.finding, page);
  page.close();
}

}  // namespace

void add_advice_section(const OrderedJson& report, const PageDocuments& /*documents*/, HtmlWriter& page) {
  const std::vector<ShownAdvice> all = advice_of(report);
  if (all.empty()) return;
  open_section("advice", "What to change", page);
  const std::size_t shown = std::min(all.size(), kMostAdvice);
  page.open("ol", {{"class", "advice"}});
  for (std::size_t index = 0; index < shown; ++index) add_shown_advice(all[index], report, page);
  page.close();
  if (all.size() > shown) {
    page.open("details");
    page.element("summary", format_count(all.size() - shown, "more change"));
    page.open("ol", {{"class", "advice"}});
    for (std::size_t index = shown; index < all.size(); ++index) add_shown_advice(all[index], report, page);
    page.close(2);
  }
  page.close();
}

}  // namespace doctor
