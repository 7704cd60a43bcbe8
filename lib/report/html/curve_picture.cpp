#include "report/html/curve_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "report/html/page_documents.h"
#include "report/html/page_parts.h"
#include "report/html/picture.h"
#include "text/document_keys.h"
#include "text/numbers.h"
#include "words/throughput_words.h"

namespace doctor {
namespace {

// Pixels down; across everything is a part of the width.
constexpr int kTop = 24;
constexpr int kBottom = 224;
constexpr int kAxis = 24;
constexpr int kAcross = 1000;  // of the part that is stretched to the width

/// A point of the curve in parts of the width and pixels down.
struct CurvePoint {
  double x = 0;
  double low = 0;
  double estimate = 0;
  double high = 0;
  std::string label;
};

std::vector<CurvePoint> points_of(const OrderedJson& points, double top) {
  const auto down = [&](const OrderedJson& rates, std::string_view key) {
    return kBottom - (kBottom - kTop) * std::clamp(number_of(rates, key) / top, 0.0, 1.0);
  };
  std::vector<CurvePoint> drawn;
  for (std::size_t index = 0; index < points.size(); ++index) {
    const OrderedJson& rates = points[index][key::steps_per_s];
    drawn.push_back({(static_cast<double>(index) + 0.5) / static_cast<double>(points.size()), down(rates, key::low),
                     down(rates, key::estimate), down(rates, key::high),
                     format_number(number_of(points[index], key::at_once))});
  }
  return drawn;
}

std::string across(double x) {
  return percent_of(x, 1);
}

/// Band and curve are stretched to the width; words are not, and stand outside.
void add_paths(const std::vector<CurvePoint>& points, HtmlWriter& page) {
  std::string band;
  std::string curve;
  const auto add = [](double x, double y, std::string& path) {
    path += fmt::format("{}{:.0f} {:.1f}", path.empty() ? "M" : " L", x * kAcross, y);
  };
  for (const CurvePoint& point : points) add(point.x, point.high, band);
  for (auto point = points.rbegin(); point != points.rend(); ++point) add(point->x, point->low, band);
  for (const CurvePoint& point : points) add(point.x, point.estimate, curve);
  page.open("svg", {{"width", "100%"},
                    {"height", fmt::format("{}", kBottom)},
                    {"viewBox", fmt::format("0 0 {} {}", kAcross, kBottom)},
                    {"preserveAspectRatio", "none"}});
  page.empty("path", {{"class", "runs interval"}, {"d", band + " Z"}});
  page.empty("path", {{"class", "curve"}, {"d", curve}});
  page.close();
}

PageTable table_of_curve(const OrderedJson& points) {
  PageTable table;
  table.summary = "steps a second by elements at once";
  table.titles = {{"num_parallel_calls", true}, {"low", true}, {"estimate", true}, {"high", true}, {"then limited by"}};
  for (const OrderedJson& point : points) {
    const OrderedJson& rates = point[key::steps_per_s];
    table.rows.push_back({{format_number(number_of(point, key::at_once)), true},
                          {format_steps_per_s(number_of(rates, key::low)), true},
                          {format_steps_per_s(number_of(rates, key::estimate)), true},
                          {format_steps_per_s(number_of(rates, key::high)), true},
                          {text_of(point, key::then_words)}});
  }
  return table;
}

}  // namespace

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
                    {"height", fmt::format("{}", kBottom + kAxis)}});
  page.element("text", {{"class", "muted"}, {"x", "0"}, {"y", "14"}}, format_steps_per_s(top) + " steps/s");
  const std::vector<CurvePoint> drawn = points_of(points, top);
  add_paths(drawn, page);
  for (std::size_t index = 0; index < drawn.size(); ++index) {
    const CurvePoint& point = drawn[index];
    page.element(
        "text",
        {{"class", "muted"}, {"x", across(point.x)}, {"y", fmt::format("{}", kBottom + 18)}, {"text-anchor", "middle"}},
        point.label);
    const bool is_knee = number_of(points[index], key::at_once) == at_once;
    if (!is_knee) continue;
    const std::string x = across(point.x);
    page.empty(
        "line",
        {{"class", "mark"}, {"x1", x}, {"x2", x}, {"y1", fmt::format("{}", kTop)}, {"y2", fmt::format("{}", kBottom)}});
    page.empty("circle", {{"class", "runs"}, {"cx", x}, {"cy", fmt::format("{:.1f}", point.estimate)}, {"r", "5"}});
  }
  const std::string y = fmt::format("{:.1f}", kBottom - (kBottom - kTop) * std::min(now / top, 1.0));
  page.empty("line", {{"class", "mark"}, {"x1", "0%"}, {"x2", "100%"}, {"y1", y}, {"y2", y}});
  page.element("text",
               {{"class", "muted"},
                {"x", "100%"},
                {"y", fmt::format("{:.1f}", kBottom - (kBottom - kTop) * std::min(now / top, 1.0) - 4)},
                {"text-anchor", "end"}},
               "now " + format_steps_per_s(now));
  page.close();
  page.element("p", {{"class", "muted"}}, "Below: num_parallel_calls. Pale: nine predictions out of ten.");
  add_table(table_of_curve(points), page);
}

}  // namespace doctor
