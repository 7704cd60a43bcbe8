#include <fmt/format.h>

#include <algorithm>

#include "diagnose/throughput_words.h"
#include "report/html/page_parts.h"
#include "report/html/page_sections.h"
#include "report/html/picture.h"
#include "text/numbers.h"

namespace doctor {
namespace {

constexpr std::size_t kMostAdvice = 5;

/// An advice of a finding, and where both are in the report.
struct ShownAdvice {
  const OrderedJson* finding = nullptr;
  const OrderedJson* advice = nullptr;
  std::string pointer;  ///< of the advice, into the page's data
  bool is_unproven = false;
};

/// The changes in the order of the report; where there is none, the first sentence of each finding.
std::vector<ShownAdvice> advice_of(const OrderedJson& report) {
  std::vector<ShownAdvice> shown;
  const OrderedJson& findings = list_of(report, "findings");
  for (const std::string_view list : {"changes", "unproven_changes"}) {
    for (const OrderedJson& change : list_of(report, list)) {
      if (shown.size() == kMostAdvice || is_true(change, "suppressed")) continue;
      const auto finding = static_cast<std::size_t>(number_of(change, "finding"));
      const auto advice = static_cast<std::size_t>(number_of(change, "advice"));
      if (finding >= findings.size() || advice >= list_of(findings[finding], "advice").size()) continue;
      shown.push_back({&findings[finding], &list_of(findings[finding], "advice")[advice],
                       fmt::format("/report/findings/{}/advice/{}", finding, advice), list == "unproven_changes"});
    }
  }
  if (!shown.empty()) return shown;
  for (std::size_t finding = 0; finding < findings.size() && shown.size() < kMostAdvice; ++finding) {
    const OrderedJson& list = list_of(findings[finding], "advice");
    const bool counts = find_value(findings[finding], "suppressed") == nullptr;
    if (list.empty() || text_of(findings[finding], "severity") == "note" || !counts) continue;
    shown.push_back({&findings[finding], &list[0], fmt::format("/report/findings/{}/advice/0", finding), false});
  }
  return shown;
}

double most_gain(const std::vector<ShownAdvice>& shown) {
  double most = 1.2;  // else nothing would look like much
  for (const ShownAdvice& advice : shown) {
    const OrderedJson* const gain = find_value(*advice.advice, "gain");
    if (gain != nullptr) most = std::max(most, number_of(*gain, "high"));
  }
  return most;
}

/// The predicted factor with its interval, from 0: where the line is, nothing changes.
void add_gain(const ShownAdvice& advice, double most, HtmlWriter& page) {
  const OrderedJson* const gain = find_value(*advice.advice, "gain");
  if (gain == nullptr) return;
  const double factor = number_of(*gain, "factor");
  const double low = number_of(*gain, "low");
  const double high = number_of(*gain, "high");
  page.open("div", {{"class", "gain"}});
  add_bar({.low = low,
           .middle = factor,
           .high = high,
           .top = most,
           .mark = 1,
           .look = "runs",
           .description = fmt::format("{} times as fast, between {} and {}", format_number(factor), format_number(low),
                                      format_number(high))},
          page);
  page.open("span");
  page.text("about ");
  add_number("x" + format_number(factor), factor, advice.pointer + "/gain/factor", page);
  page.text(fmt::format(" ({} to {}); after that the limit is {}", format_number(low), format_number(high),
                        text_of(*gain, "then_limited_by")));
  if (const std::string condition = text_of(*gain, "condition"); !condition.empty()) {
    page.text(fmt::format(", {}", describe_condition(condition)));
  }
  page.close();
  page.close();
}

}  // namespace

void add_advice_section(const PageDocuments& documents, HtmlWriter& page) {
  const OrderedJson* const report = documents.find("report");
  if (report == nullptr) return;
  const std::vector<ShownAdvice> shown = advice_of(*report);
  if (shown.empty()) return;
  open_section("advice", "What to change", page);
  const bool has_gain = std::any_of(shown.begin(), shown.end(), [](const ShownAdvice& advice) {
    return find_value(*advice.advice, "gain") != nullptr;
  });
  page.element(
      "p", {{"class", "muted"}},
      has_gain ? "What is predicted to gain most without a condition comes first. The dashed line is the speed now; "
                 "the bar is the interval of the prediction."
               : "This trace does not let a model predict what each change gains.");
  page.open("ol", {{"class", "advice"}});
  for (const ShownAdvice& advice : shown) {
    page.open("li");
    if (advice.is_unproven) page.element("p", "This may bring nothing: the trace shows no end of an epoch.");
    page.element("p", text_of(*advice.advice, "text"));
    if (const std::string code = text_of(*advice.advice, "code"); !code.empty()) add_code(code, page);
    if (const std::string versions = text_of(*advice.advice, "versions"); !versions.empty()) {
      page.element("p", {{"class", "muted"}}, versions);
    }
    add_gain(advice, most_gain(shown), page);
    page.open("p", {{"class", "muted"}});
    const std::string rule = text_of(*advice.finding, "rule");
    page.element("a", {{"href", "#finding-" + rule}}, rule);
    page.text(": " + text_of(*advice.finding, "message"));
    if (const OrderedJson* const source = find_value(*advice.finding, "source")) {
      page.text(fmt::format(" ({}:{})", text_of(*source, "file"), number_of(*source, "line")));
    }
    page.close();
    add_references(*advice.finding, page);
    page.close();
  }
  page.close();
  page.close();
}

}  // namespace doctor
