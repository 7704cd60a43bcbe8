#include <fmt/format.h>

#include <algorithm>

#include "report/html/curve_picture.h"
#include "report/html/page_parts.h"
#include "report/html/page_sections.h"
#include "report/html/picture.h"
#include "text/document_keys.h"
#include "text/numbers.h"

namespace doctor {
namespace {

/// A rate after a change, with its interval, as a row of the picture.
struct RateRow {
  std::string what;
  double low = 0;
  double estimate = 0;
  double high = 0;
  std::string after;  ///< what limits then
  bool is_conditional = false;
};

std::string words_of_limit(const OrderedJson* limit) {
  if (limit == nullptr) return {};
  const std::string iterator = text_of(*limit, key::iterator);
  const std::string resource = title_of(text_of(*limit, key::resource));
  return iterator.empty() ? resource : fmt::format("{} of {}", resource, shortened(iterator));
}

RateRow row_of(const OrderedJson& fix) {
  RateRow row;
  row.what = text_of(fix, key::words);
  if (const std::string condition = text_of(fix, key::condition); !condition.empty()) {
    row.what += fmt::format(", {}", describe_condition(condition));
    row.is_conditional = true;
  }
  if (const OrderedJson* const rates = find_value(fix, key::steps_per_s)) {
    row.low = number_of(*rates, key::low);
    row.estimate = number_of(*rates, key::estimate);
    row.high = number_of(*rates, key::high);
  }
  row.after = text_of(fix, key::then_words);
  return row;
}

/// `top` is the end of the scale.
void add_rows(const std::vector<RateRow>& rows, double now, double top, HtmlWriter& page) {
  page.open("ul", {{"class", "bars"}});
  for (const RateRow& row : rows) {
    page.open("li");
    page.element("span", {{"class", "what"}}, row.what);
    add_bar({.low = row.low,
             .middle = row.estimate,
             .high = row.high,
             .top = top,
             .mark = now,
             .look = "runs",
             .description = fmt::format("{}: {} steps per second, between {} and {}", row.what,
                                        format_number(row.estimate), format_number(row.low), format_number(row.high))},
            page);
    std::string words = format_steps_per_s(row.estimate) + " steps/s";
    if (now > 0) words += fmt::format(", {}", format_factor(row.estimate / now));
    if (row.estimate > top) words += ", beyond this scale";
    if (!row.after.empty()) words += "; then " + row.after;
    page.element("span", {{"class", "muted"}}, words);
    page.close();
  }
  page.close();
}

/// Of what needs no condition, where anything gains without: a cache that may not fit must not make it invisible.
double most_of(const std::vector<RateRow>& rows, double now) {
  double most = now;
  double most_at_all = now;
  for (const RateRow& row : rows) {
    most_at_all = std::max(most_at_all, row.high);
    if (!row.is_conditional) most = std::max(most, row.high);
  }
  constexpr double kGains = 1.03;
  return most > kGains * now ? most : most_at_all;
}

PageTable table_of_rows(const std::vector<RateRow>& rows) {
  PageTable table;
  table.summary = "steps per second after each change";
  table.titles = {{"change"}, {"low", true}, {"estimate", true}, {"high", true}, {"then limited by"}};
  for (const RateRow& row : rows) {
    table.rows.push_back({{row.what},
                          {format_number(row.low), true},
                          {format_number(row.estimate), true},
                          {format_number(row.high), true},
                          {row.after}});
  }
  return table;
}

void add_pipeline(const OrderedJson& pipeline, std::size_t number, std::size_t count, HtmlWriter& page) {
  if (const std::string words = pipeline_words(pipeline, count); !words.empty()) page.element("h3", words);
  const OrderedJson* const rates = find_value(pipeline, key::steps_per_s);
  if (rates == nullptr) {
    page.element("p", "No prediction: " + text_of(pipeline, key::why_none));
    return;
  }
  const double now = number_of(*rates, key::model);
  page.open("p");
  page.text("Measured ");
  add_number(format_number(number_of(*rates, key::measured)), number_of(*rates, key::measured),
             fmt::format("/whatif/pipelines/{}/steps_per_s/measured", number), page);
  page.text(" steps/s; without the cost of recording about ");
  add_number(format_number(now), now, fmt::format("/whatif/pipelines/{}/steps_per_s/model", number), page);
  page.text(", the dashed line. What limits now: " + words_of_limit(find_value(pipeline, key::limited_by)) + ".");
  page.close();
  std::vector<RateRow> rows;
  for (const OrderedJson& fix : list_of(pipeline, key::fixes)) rows.push_back(row_of(fix));
  for (const OrderedJson& fix : list_of(pipeline, key::together)) {
    rows.push_back(row_of(fix));
    rows.back().what += ", together with those before";
  }
  // The ceiling may be far off: it must not make what can be reached invisible.
  constexpr double kRoom = 1.2;
  const double top = kRoom * most_of(rows, now);
  if (const OrderedJson* const ideal = find_value(pipeline, key::without_input)) {
    rows.push_back(row_of(*ideal));
    rows.back().what = "if data were always ready";
  }
  add_rows(rows, now, top, page);
  add_table(table_of_rows(rows), page);
  if (const OrderedJson* const curve = find_value(pipeline, key::curve)) add_curve(*curve, now, page);
}

}  // namespace

void add_whatif_section(const PageDocuments& documents, HtmlWriter& page) {
  const OrderedJson* const whatif = documents.find("whatif");
  if (whatif == nullptr) return;
  open_section("whatif", "What each change would bring", page);
  const OrderedJson& pipelines = list_of(*whatif, key::pipelines);
  for (std::size_t number = 0; number < std::min<std::size_t>(pipelines.size(), 8); ++number) {
    add_pipeline(pipelines[number], number, pipelines.size(), page);
  }
  if (const OrderedJson* const asked = find_value(*whatif, key::asked)) {
    page.element("h3", "What you asked");
    const std::vector<RateRow> rows = {row_of(*asked)};
    add_rows(rows, 0, most_of(rows, 0), page);
  }
  page.close();
}

}  // namespace doctor
