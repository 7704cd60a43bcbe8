#include <algorithm>
#include <array>

#include "report/html/page_parts.h"
#include "report/html/page_sections.h"
#include "report/html/picture.h"
#include "text/numbers.h"

namespace doctor {
namespace {

struct VerdictWords {
  std::string_view status;  ///< of the schema
  std::string_view look;
  std::string_view mark;  ///< its shape says the same as its colour
  std::string_view words;
};

constexpr std::array<VerdictWords, 4> kVerdicts = {{
    {"input_bound", "verdict bad", "\u25b2", "The training waits for its input"},
    {"healthy", "verdict good", "\u25cf", "The training does not wait for its input"},
    {"no_input_pipeline", "verdict", "\u25a0", "No input pipeline in this trace"},
    {"inconclusive", "verdict", "\u25c6", "This trace does not say whether the training waits for its input"},
}};

const VerdictWords& words_of_verdict(const std::string& status) {
  const auto* const found =
      std::find_if(kVerdicts.begin(), kVerdicts.end(), [&](const VerdictWords& one) { return one.status == status; });
  return found == kVerdicts.end() ? kVerdicts.back() : *found;
}

/// Waiting and running as parts of one bar, under it what they are.
void add_shares(double share, HtmlWriter& page) {
  const std::string waits = "waits for input: " + format_share(share);
  page.open("svg", {{"class", "picture"}, {"height", "46"}, {"role", "img"}, {"aria-label", waits + " of the time"}});
  page.empty("rect", {{"class", "waits"}, {"width", percent_of(share, 1)}, {"height", "24"}});
  page.empty("rect",
             {{"class", "runs"}, {"x", percent_of(share, 1)}, {"width", percent_of(1 - share, 1)}, {"height", "24"}});
  page.element("text", {{"x", "0"}, {"y", "41"}}, waits);
  page.element("text", {{"x", "100%"}, {"y", "41"}, {"text-anchor", "end"}}, "runs its steps");
  page.close();
}

void add_rates(const OrderedJson& verdict, HtmlWriter& page) {
  const std::optional<double> now = known_number(verdict, "steps_per_s");
  const std::optional<double> ideal = known_number(verdict, "steps_per_s_without_input");
  if (!now || !ideal) return;
  page.open("p");
  page.text("About ");
  add_number(format_number(*now), *now, "/report/verdict/steps_per_s", page);
  page.text(" steps/s now; about ");
  add_number(format_number(*ideal), *ideal, "/report/verdict/steps_per_s_without_input", page);
  page.text(" if every element were ready. A model of this recording says so: an estimate, not a promise.");
  page.close();
}

}  // namespace

void add_verdict_section(const PageDocuments& documents, HtmlWriter& page) {
  const OrderedJson* const report = documents.find("report");
  if (report == nullptr) return;
  const OrderedJson& verdict = (*report)["verdict"];
  const VerdictWords& words = words_of_verdict(text_of(verdict, "status"));
  page.open("section", {{"id", "verdict"}, {"class", std::string(words.look)}, {"aria-labelledby", "heading-verdict"}});
  page.open("h1", {{"id", "heading-verdict"}});
  page.element("span", {{"aria-hidden", "true"}}, words.mark);
  page.text(" ");
  page.text(words.words);
  const std::optional<double> share = known_number(verdict, "input_share");
  if (share && words.status == "input_bound") {
    page.text(": ");
    add_number(format_share(*share), *share, "/report/verdict/input_share", page);
    page.text(" of the time");
  }
  page.close();
  page.element("p", text_of(verdict, "summary"));
  if (share) add_shares(*share, page);
  add_rates(verdict, page);
  page.open("p", {{"class", "muted"}});
  page.text("Confidence ");
  add_number(format_share(number_of(verdict, "confidence")), number_of(verdict, "confidence"),
             "/report/verdict/confidence", page);
  page.text(".");
  page.close();
  page.close();
}

}  // namespace doctor
