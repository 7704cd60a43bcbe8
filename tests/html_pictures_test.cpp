// What a page for a browser draws, and in which colours.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <vector>

#include "report/html/html_page.h"

namespace doctor::html_pictures_test {
namespace {

/// Luminance of "#rrggbb" (WCAG 2.2, relative luminance).
double luminance(const std::string& color) {
  double sum = 0;
  const double weights[] = {0.2126, 0.7152, 0.0722};
  for (std::size_t channel = 0; channel < 3; ++channel) {
    const double value = std::stoi(color.substr(1 + 2 * channel, 2), nullptr, 16) / 255.0;
    sum += weights[channel] * (value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4));
  }
  return sum;
}

double contrast(const std::string& one, const std::string& other) {
  const double high = std::max(luminance(one), luminance(other));
  const double low = std::min(luminance(one), luminance(other));
  return (high + 0.05) / (low + 0.05);
}

/// The colours of each :root of the style sheet: light, dark, paper.
std::vector<std::map<std::string, std::string>> palettes() {
  static const std::regex kColor(R"(--([a-z0-9]+): (#[0-9a-f]{6});)");
  const std::string style(kPageStyle);
  std::vector<std::map<std::string, std::string>> palettes;
  for (std::size_t at = style.find(":root {"); at != std::string::npos; at = style.find(":root {", at + 1)) {
    const std::string block = style.substr(at, style.find('}', at) - at);
    std::map<std::string, std::string> colors;
    for (std::sregex_iterator match(block.begin(), block.end(), kColor), none; match != none; ++match) {
      colors[(*match)[1]] = (*match)[2];
    }
    palettes.push_back(std::move(colors));
  }
  return palettes;
}
std::size_t occurrences(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}
/// A report of two pipelines of the same stages, which wait for these shares of the time.
OrderedJson report_of_two(double share, double other_share) {
  const auto pipeline = [](const std::string& id, double of) {
    return OrderedJson{{"id", id},
                       {"host", "host-" + id},
                       {"input_share", of},
                       {"iterators",
                        {{{"long_name", "Iterator::Root"},
                          {"short_name", "Root"},
                          {"depth", 0},
                          {"calls", 1},
                          {"total_us", 1},
                          {"wait_us", 0}}}}};
  };
  OrderedJson report = {{"trace", {{"events", 0}, {"iterator_events", 0}}}};
  report["verdict"] = {{"status", "input_bound"}, {"input_share", share}, {"confidence", 0.9}, {"summary", "Waits."}};
  report["pipelines"] = {pipeline("0:0", share), pipeline("1:1", other_share)};
  return report;
}

TEST_CASE("pipelines of the same stages are alike only if they wait as long") {
  const auto page = [](double share, double other) {
    return render_html({{"report", report_of_two(share, other)}}, "x");
  };
  CHECK(page(0.86, 0.009).find("but waits 0.9% of the time, not 86%") != std::string::npos);
  CHECK(page(0.86, 0.84).find("and waits about as long.") != std::string::npos);
  const auto timeline = [](double share, double other) {
    OrderedJson pipelines = OrderedJson::array();
    for (const double of : {share, other}) {
      OrderedJson window = {{"kind", "step"}, {"number", 2}, {"start_us", 0}, {"duration_us", 100}};
      window["calls"] = window["lanes"] = OrderedJson::array();
      pipelines.push_back({{"id", "0:0"},
                           {"input_share", of},
                           {"stages", {{{"long_name", "Iterator::Root"}, {"name", "Root"}}}},
                           {"windows", OrderedJson::array({window})}});
    }
    return occurrences(render_html({{"timeline", {{"pipelines", pipelines}}}}, "x"), "data-length");
  };
  CHECK(timeline(0.86, 0.009) == 2);
  CHECK(timeline(0.86, 0.84) == 1);
}
TEST_CASE("the heading of a page and its tab are the first line of the report") {
  OrderedJson report = report_of_two(0.002, 0.002);
  report["verdict"]["headline"] = "the input takes the cores from the training";
  const std::string page = render_html({{"report", report}}, "run");
  CHECK(page.find("</span> The input takes the cores from the training</h1>") != std::string::npos);
  CHECK(page.find("<title>The input takes the cores from the training - run - tfdata-doctor</title>") !=
        std::string::npos);
}

TEST_CASE("hosts of a run have their steps one above the other, on one axis of step numbers") {
  OrderedJson steps = {{"rows", OrderedJson::array()}};
  for (const std::string host : {"a", "b"}) {
    for (int step = 7; step < 11; ++step) {
      steps["rows"].push_back(
          {{"host", host}, {"step", step}, {"duration_us", 10}, {"input_us", 5}, {"counted", true}});
    }
  }
  OrderedJson report = report_of_two(0.5, 0.1);
  report["hosts_compared"] = {{{"host", "b"}, {"status", "straggler"}}, {{"host", "a"}, {"status", "alike"}}};
  const std::string page = render_html({{"report", report}, {"steps", steps}}, "x");
  const std::string section = page.substr(page.find("<section id=\"steps\""));
  CHECK(occurrences(section, "data-length=\"4\" data-first=\"7\"") == 2);
  CHECK(section.find("<h3>b</h3>") < section.find("<h3>a</h3>"));
  // Numbers that begin again are no axis: the steps are counted.
  steps["rows"][3]["step"] = 1;
  const std::string counted = render_html({{"report", report}, {"steps", steps}}, "x");
  CHECK(occurrences(counted, "data-length=\"4\" data-first=\"1\"") == 2);
}
TEST_CASE("a ceiling beyond the scale is said to be, one nearby is drawn to its end") {
  const auto page = [](double ideal) {
    OrderedJson report = report_of_two(0.5, 0.1);
    report["verdict"]["steps_per_s"] = 40;
    report["verdict"]["steps_per_s_without_input"] = ideal;
    report["findings"] = {{{"rule", "r"}, {"message", "m"}}};
    report["changes"] = OrderedJson::array();
    const OrderedJson gain = {{"factor", 1.5}, {"low", 1.2}, {"high", 1.7}, {"steps_per_s", 60}};
    report["changes"].push_back({{"finding", 0}, {"advice", 0}, {"text", "t"}, {"gain", gain}});
    return render_html({{"report", report}}, "x");
  };
  CHECK(page(1000).find("</data> steps/s, 25x, beyond this scale") != std::string::npos);
  CHECK(page(100).find("beyond this scale") == std::string::npos);
  CHECK(page(1000).find("40 \u2192 ") != std::string::npos);  // what a change gains begins with the rate now
  CHECK(page(1000).find(" (1.20x to 1.7x)") != std::string::npos);
}

TEST_CASE("a trace of a fleet keeps its last folders, without a link to a place that is not said") {
  OrderedJson fleet = {
      {"rows", {{"counted", 1}}}, {"lost_hours", 1}, {"recorded_hours", 2}, {"verdicts", {{"healthy", 1}}}};
  fleet["culprits"] = {
      {{"dataset", "Map"}, {"lost_hours", 1}, {"share", 1}, {"example", "/home/me/runs/slow/host.xplane.pb"}}};
  const std::string page = render_html({{"fleet", fleet}}, "x");
  CHECK(page.find("\u2026/runs/slow/host.xplane.pb") != std::string::npos);
  CHECK(page.find("/home/me") == std::string::npos);
  CHECK(page.find("<a href=\".") == std::string::npos);
}
TEST_CASE("colours can be told from the page in the light, in the dark and on paper") {
  const auto all = palettes();
  REQUIRE(all.size() == 3);
  for (const auto& colors : all) {
    for (const char* const background : {"page", "bad", "good", "soft"}) {
      CAPTURE(background);
      CHECK(contrast(colors.at("text"), colors.at(background)) >= 4.5);
      CHECK(contrast(colors.at("muted"), colors.at(background)) >= 4.5);
    }
    for (const char* const look : {"hot", "s2", "s3", "s4", "s5", "other", "runs", "line"}) {
      CAPTURE(look);
      CHECK(contrast(colors.at(look), colors.at("page")) >= 3);
    }
  }
  CHECK(contrast("#ffffff", "#000000") == doctest::Approx(21));
}

}  // namespace
}  // namespace doctor::html_pictures_test
