#include "report/html/page_parts.h"
#include "words/throughput_words.h"

namespace doctor {
namespace {

constexpr double kGains = 1.03;  // less is not to be told from nothing: input-bound.min_gain

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

/// `curve` of `whatif`: steps a second by how many elements a map works on at once, and where more bring next to
/// nothing. `now`: steps a second today.
void add_curve(const OrderedJson& curve, double now, HtmlWriter& page) {
  const OrderedJson* const knee = find_value(curve, key::knee);
  if (knee == nullptr) return;
  const auto row_of_point = [](const OrderedJson& point) {
    RateRow row = row_of(point);
    row.what = words_in(point, key::at_once) + " at once";
    return row;
  };
  std::vector<RateRow> rows;
  for (const OrderedJson& point : list_of(curve, key::points)) rows.push_back(row_of_point(point));
  const RateRow best = row_of_point(*knee);
  page.element("h3", "How many parallel calls are worth it: " + shortened(text_of(curve, key::name)));
  page.element("p", fmt::format("{}: {} steps/s; more bring next to nothing. The limit then is {}.", best.what,
                                format_steps_per_s(best.estimate), best.after));
  add_rates(rows, now, top_of_rates(rows, now, 0), page);
  add_table_of_rates("steps per second by num_parallel_calls", rows, page);
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
  add_number(words_in(*rates, key::measured), number_of(*rates, key::measured),
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
  const OrderedJson* const ideal = find_value(pipeline, key::without_input);
  RateRow ceiling = ideal == nullptr ? RateRow() : row_of(*ideal);
  ceiling.what = "if data were always ready";
  const double top = top_of_rates(rows, now, ceiling.estimate);
  if (ideal != nullptr) rows.push_back(ceiling);
  add_rates(rows, now, top, page);
  add_table_of_rates("steps per second after each change", rows, page);
  if (const OrderedJson* const curve = find_value(pipeline, key::curve)) add_curve(*curve, now, page);
}

}  // namespace

double top_of_rates(const std::vector<RateRow>& rows, double now, double ceiling) {
  constexpr double kRoom = 1.2;
  constexpr double kNearby = 1.5;  // a ceiling up to so many times as high is drawn to its end
  if (rows.empty()) return std::max(now, ceiling);
  double most = now;  // of what needs no condition: a cache that may not fit must not make it invisible
  double most_at_all = now;
  for (const RateRow& row : rows) {
    most_at_all = std::max(most_at_all, row.high);
    if (!row.is_conditional) most = std::max(most, row.high);
  }
  const double top = kRoom * (most > kGains * now ? most : most_at_all);
  return ceiling <= kNearby * top ? std::max(ceiling, top) : top;
}

void add_rates(const std::vector<RateRow>& rows, double now, double top, HtmlWriter& page) {
  page.open("ul", {{"class", "bars rates"}});
  for (const RateRow& row : rows) {
    const std::string rate = format_steps_per_s(row.estimate);
    const bool has_interval = row.low < row.high;
    const std::string words = " steps/s" + (has_interval ? fmt::format(" ({} to {})", format_steps_per_s(row.low),
                                                                       format_steps_per_s(row.high))
                                                         : std::string());
    page.open("li");
    page.element("span", {{"class", "what"}}, row.what);
    add_bar({.low = row.low,
             .middle = row.estimate,
             .high = row.high,
             .top = top,
             .mark = now,
             .look = "runs",
             .description = row.what + ": " + rate + words},
            page);
    page.open("span", {{"class", "muted"}});
    if (row.pointer.empty()) page.text(rate);
    if (!row.pointer.empty()) add_number(rate, row.estimate, row.pointer, page);
    page.text(words);
    if (now > 0 && row.estimate != now) page.text(", " + format_factor(row.estimate / now));
    if (row.estimate > top) page.text(", beyond this scale");
    if (!row.after.empty()) page.text("; then " + row.after);
    page.close(2);
  }
  page.close();
}

void add_table_of_rates(std::string title, const std::vector<RateRow>& rows, HtmlWriter& page) {
  add_table(
      std::move(title), {{"change"}, {"low", true}, {"estimate", true}, {"high", true}, {"then limited by"}}, rows,
      [](const RateRow& row) -> std::vector<TableCell> {
        return {row.what, format_number(row.low), format_number(row.estimate), format_number(row.high), row.after};
      },
      page);
}

std::string headline_of_whatif(const OrderedJson& whatif) {
  for (const OrderedJson& pipeline : list_of(whatif, key::pipelines)) {
    const OrderedJson* const rates = find_value(pipeline, key::steps_per_s);
    if (rates == nullptr) continue;
    const double now = number_of(*rates, key::model);
    RateRow best;
    for (const OrderedJson& fix : list_of(pipeline, key::fixes)) {
      RateRow row = row_of(fix);
      if (!row.is_conditional && row.estimate > std::max(best.estimate, kGains * now)) best = std::move(row);
    }
    if (best.what.empty()) return fmt::format("No change is sure to make {} steps/s faster", format_steps_per_s(now));
    return fmt::format("{} steps/s become {}: {}", format_steps_per_s(now), format_steps_per_s(best.estimate),
                       best.what);
  }
  return "No change can be predicted";
}

void add_whatif_section(const OrderedJson& whatif, const PageDocuments& /*documents*/, HtmlWriter& page) {
  page.element("h1", headline_of_whatif(whatif));
  open_section("whatif", "What each change would bring", page);
  const OrderedJson& pipelines = list_of(whatif, key::pipelines);
  for (std::size_t number = 0; number < std::min<std::size_t>(pipelines.size(), 8); ++number) {
    add_pipeline(pipelines[number], number, pipelines.size(), page);
  }
  if (const OrderedJson* const asked = find_value(whatif, key::asked)) {
    page.element("h3", "What you asked");
    const std::vector<RateRow> rows = {row_of(*asked)};
    add_rates(rows, 0, top_of_rates(rows, 0, 0), page);
  }
  page.close();
}

}  // namespace doctor
