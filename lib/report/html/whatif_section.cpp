#include "report/html/page_parts.h"
#include "words/throughput_words.h"

namespace doctor {
namespace {

constexpr double kGains = 1.03;  // less is not to be told from nothing: input-bound.min_gain

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
  return most > kGains * now ? most : most_at_all;
}

// Pixels down; across everything is a part of the width.
constexpr int kTop = 24;
constexpr int kBottom = 224;
constexpr int kAxis = 24;
constexpr int kAcross = 1000;  // of the part that is stretched to the width

/// Where the points of a curve lie: side by side, from 0 steps a second at the bottom to `top`.
struct CurveScale {
  const OrderedJson& points;
  double top;

  /// Part of the width.
  double across(std::size_t index) const {
    return (static_cast<double>(index) + 0.5) / static_cast<double>(points.size());
  }
  double down(double rate) const { return kBottom - (kBottom - kTop) * std::clamp(rate / top, 0.0, 1.0); }
  double down(std::size_t index, std::string_view rate) const {
    return down(number_of(points[index][key::steps_per_s], rate));
  }
};

/// Band and curve are stretched to the width; words are not, and stand outside.
void add_paths(const CurveScale& scale, HtmlWriter& page) {
  std::string band;
  std::string curve;
  const auto add = [&](std::size_t index, std::string_view rate, std::string& path) {
    path += fmt::format("{}{:.0f} {:.1f}", path.empty() ? "M" : " L", scale.across(index) * kAcross,
                        scale.down(index, rate));
  };
  for (std::size_t index = 0; index < scale.points.size(); ++index) {
    add(index, key::high, band);
    add(index, key::estimate, curve);
  }
  for (std::size_t index = scale.points.size(); index-- > 0;) add(index, key::low, band);
  page.open("svg", {{"width", "100%"},
                    {"height", kBottom},
                    {"viewBox", fmt::format("0 0 {} {}", kAcross, kBottom)},
                    {"preserveAspectRatio", "none"}});
  page.empty("path", {{"class", "runs interval"}, {"d", band + " Z"}});
  page.empty("path", {{"class", "curve"}, {"d", curve}});
  page.close();
}

/// `curve` of `whatif`: steps a second by how many elements a map works on at once, with the band of nine predictions
/// out of ten, and where more bring next to nothing. `now`: steps a second today.
void add_curve(const OrderedJson& curve, double now, HtmlWriter& page) {
  const OrderedJson& points = list_of(curve, key::points);
  const OrderedJson* const knee = find_value(curve, key::knee);
  if (points.empty() || knee == nullptr) return;
  double top = now;
  for (const OrderedJson& point : points) top = std::max(top, number_of(point[key::steps_per_s], key::high));
  if (top <= 0) return;
  const std::string name = shortened(text_of(curve, key::name));
  const double at_once = number_of(*knee, key::at_once);
  const double reached = number_of((*knee)[key::steps_per_s], key::estimate);
  const std::string words =
      fmt::format("{} at once: {} steps/s; more bring next to nothing. The limit then is {}", format_number(at_once),
                  format_steps_per_s(reached), text_of(*knee, key::then_words));
  page.element("h3", "How many parallel calls are worth it: " + name);
  page.element("p", words + ".");
  page.open("svg", {{"class", "picture"},
                    {"role", "img"},
                    {"aria-label", fmt::format("Steps a second by num_parallel_calls of {}. {}", name, words)},
                    {"height", kBottom + kAxis}});
  page.element("text", {{"class", "muted"}, {"x", "0"}, {"y", "14"}}, format_steps_per_s(top) + " steps/s");
  const CurveScale scale = {points, top};
  const auto pixels = [](double down) { return fmt::format("{:.1f}", down); };
  add_paths(scale, page);
  for (std::size_t index = 0; index < points.size(); ++index) {
    const std::string x = percent_of(scale.across(index), 1);
    page.element("text", {{"class", "muted"}, {"x", x}, {"y", kBottom + 18}, {"text-anchor", "middle"}},
                 words_in(points[index], key::at_once));
    const bool is_knee = number_of(points[index], key::at_once) == at_once;
    if (!is_knee) continue;
    page.empty("line", {{"class", "mark"}, {"x1", x}, {"x2", x}, {"y1", kTop}, {"y2", kBottom}});
    page.empty("circle", {{"class", "runs"}, {"cx", x}, {"cy", pixels(scale.down(index, key::estimate))}, {"r", "5"}});
  }
  const std::string y = pixels(scale.down(now));
  page.empty("line", {{"class", "mark"}, {"x1", "0%"}, {"x2", "100%"}, {"y1", y}, {"y2", y}});
  page.element("text", {{"class", "muted"}, {"x", "100%"}, {"y", pixels(scale.down(now) - 4)}, {"text-anchor", "end"}},
               "now " + format_steps_per_s(now));
  page.close();
  add_note("Below: num_parallel_calls. Pale: nine predictions out of ten.", page);
  add_table(
      "steps a second by elements at once",
      {{"num_parallel_calls", true}, {"low", true}, {"estimate", true}, {"high", true}, {"then limited by"}}, points,
      [](const OrderedJson& point) -> std::vector<TableCell> {
        const auto rate = [&](std::string_view key) {
          return format_steps_per_s(number_of(point[key::steps_per_s], key));
        };
        return {words_in(point, key::at_once), rate(key::low), rate(key::estimate), rate(key::high),
                text_of(point, key::then_words)};
      },
      page);
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
  // The ceiling may be far off: it must not make what can be reached invisible.
  constexpr double kRoom = 1.2;
  const double top = kRoom * most_of(rows, now);
  if (const OrderedJson* const ideal = find_value(pipeline, key::without_input)) {
    rows.push_back(row_of(*ideal));
    rows.back().what = "if data were always ready";
  }
  add_rows(rows, now, top, page);
  add_table(
      "steps per second after each change",
      {{"change"}, {"low", true}, {"estimate", true}, {"high", true}, {"then limited by"}}, rows,
      [](const RateRow& row) -> std::vector<TableCell> {
        return {row.what, format_number(row.low), format_number(row.estimate), format_number(row.high), row.after};
      },
      page);
  if (const OrderedJson* const curve = find_value(pipeline, key::curve)) add_curve(*curve, now, page);
}

}  // namespace

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
    add_rows(rows, 0, most_of(rows, 0), page);
  }
  page.close();
}

}  // namespace doctor
