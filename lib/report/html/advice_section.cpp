#include <fmt/format.h>

#include <algorithm>
#include <set>

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
};

/// The report has what gains most first. Of a finding the change to the code, else the first hint; hints only where no
/// change is known, and nothing twice.
std::vector<ShownAdvice> advice_of(const OrderedJson& report) {
  std::vector<ShownAdvice> changes;
  std::vector<ShownAdvice> hints;
  std::set<std::string> said;
  const OrderedJson& findings = list_of(report, "findings");
  for (std::size_t finding = 0; finding < findings.size(); ++finding) {
    const OrderedJson& list = list_of(findings[finding], "advice");
    if (list.empty() || text_of(findings[finding], "severity") == "note") continue;
    if (find_value(findings[finding], "suppressed") != nullptr) continue;
    const auto change = std::find_if(list.begin(), list.end(),
                                     [](const OrderedJson& advice) { return find_value(advice, "code") != nullptr; });
    const auto index = static_cast<std::size_t>(change == list.end() ? 0 : change - list.begin());
    const std::string what = text_of(list[index], "code") + text_of(list[index], "text");
    if (!said.insert(what).second) continue;
    std::vector<ShownAdvice>& kind = change == list.end() ? hints : changes;
    kind.push_back({&findings[finding], &list[index], fmt::format("/report/findings/{}/advice/{}", finding, index)});
  }
  std::vector<ShownAdvice>& shown = changes.empty() ? hints : changes;
  shown.resize(std::min(shown.size(), kMostAdvice));
  return std::move(shown);
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
  page.text(fmt::format(" ({} to {}), then {} limits", format_number(low), format_number(high),
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
  page.element("p", {{"class", "muted"}},
               has_gain
                   ? "What is predicted to gain most comes first. The dashed line is the speed now; the bar is the "
                     "interval of the prediction."
                   : "This trace does not let a model predict what each change gains.");
  page.open("ol", {{"class", "advice"}});
  for (const ShownAdvice& advice : shown) {
    page.open("li");
    page.element("p", text_of(*advice.advice, "text"));
    if (const std::string code = text_of(*advice.advice, "code"); !code.empty()) add_code(code, page);
    add_gain(advice, most_gain(shown), page);
    page.open("p", {{"class", "muted"}});
    const std::string rule = text_of(*advice.finding, "rule");
    page.element("a", {{"href", "#finding-" + rule}}, rule);
    page.text(": " + text_of(*advice.finding, "message"));
    if (const OrderedJson* const source = find_value(*advice.finding, "source")) {
      page.text(fmt::format(" ({}:{})", text_of(*source, "file"), number_of(*source, "line")));
    }
    page.close();
    page.close();
  }
  page.close();
  page.close();
}

}  // namespace doctor
