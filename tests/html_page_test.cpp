// Pages for a browser, as far as no browser is needed: what they may hold, that their numbers are those of their data,
// that nothing foreign becomes markup, that colours can be told from the page.

#include "report/html/html_page.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "built_paths.h"
#include "html_elements.h"
#include "report/html/picture.h"
#include "report/page.h"
#include "run_tool.h"
#include "temporary_directory.h"

namespace doctor::html_page_test {
namespace {

using Json = nlohmann::json;

std::string testdata(const std::string& name) {
  return source_dir() + "/testdata/" + name;
}

std::string page_of(const std::vector<std::string>& arguments) {
  std::vector<std::string> all = arguments;
  all.insert(all.end(), {"--format", "html"});
  const Ended ended = run_tool(all);
  CAPTURE(ended.errors);
  REQUIRE(ended.code >= 0);
  REQUIRE(ended.code != 2);
  return ended.output;
}

/// Traces of every kind that a page can be about.
std::vector<std::vector<std::string>> pages() {
  return {{testdata("traces/guide_naive.xplane.pb")},
          {testdata("traces/guide_parallel_map.xplane.pb")},
          {testdata("traces/healthy_tf2.4.trace.json.gz")},
          {testdata("traces/no_tf_data_tf2.4.xplane.pb")},
          {testdata("traces/cut_off_tf2.4.xplane.pb")},
          {testdata("traces/empty.xplane.pb")},
          {testdata("field/gpu_multi_worker.xplane.pb.gz")},
          {testdata("outputs/hostile.trace.json")},
          {"whatif", testdata("traces/guide_naive.xplane.pb")},
          {"show", "steps", testdata("traces/guide_naive.xplane.pb")},
          {"show", "ops", testdata("outputs/hostile.trace.json")},
          {"show", "calls", testdata("outputs/hostile.trace.json")},
          {"show", "overview", testdata("traces/guide_naive.xplane.pb")},
          {"fleet", testdata("fleet/january.ndjson"), testdata("fleet/february.ndjson")},
          {"fleet", testdata("fleet/over_time.ndjson.gz")},
          {"compare", testdata("traces/guide_naive.xplane.pb"), "--", testdata("traces/guide_prefetch.xplane.pb")}};
}

/// A start tag with its attributes.
struct Tag {
  std::string name;
  std::map<std::string, std::string> attributes;
};

/// The start tags of a page, and where its scripts and its style stand between. Fails on anything that is not written
/// the way HtmlWriter writes.
std::vector<Tag> tags_of(const std::string& page, std::map<std::string, std::vector<std::string>>& raw) {
  static const std::regex kAttribute(R"re( ([a-zA-Z0-9:-]+)="([^"<>]*)")re");
  std::vector<Tag> tags;
  for (std::size_t at = page.find('<'); at != std::string::npos; at = page.find('<', at)) {
    const std::size_t end = page.find('>', at);
    REQUIRE(end != std::string::npos);
    const std::string inside = page.substr(at + 1, end - at - 1);
    at = end + 1;
    if (inside.starts_with('/') || inside == "!doctype html") continue;
    Tag tag;
    const std::size_t name_end = inside.find_first_of(" /");
    tag.name = inside.substr(0, name_end);
    std::string attributes = name_end == std::string::npos ? std::string() : inside.substr(name_end);
    if (attributes.ends_with('/')) attributes.pop_back();
    std::size_t read = 0;
    for (std::sregex_iterator match(attributes.begin(), attributes.end(), kAttribute), none; match != none; ++match) {
      tag.attributes[(*match)[1]] = (*match)[2];
      read += static_cast<std::size_t>(match->length());
    }
    CHECK_MESSAGE(read == attributes.size(), inside);
    if (tag.name == "script" || tag.name == "style") {
      const std::size_t close = page.find("</" + tag.name + ">", at);
      REQUIRE(close != std::string::npos);
      raw[tag.attributes.count("type") > 0 ? "data" : tag.name].push_back(page.substr(at, close - at));
      at = close;
    }
    tags.push_back(std::move(tag));
  }
  return tags;
}

/// The attributes that its elements may have.
const std::set<std::string> kAttributes = {"lang",
                                           "charset",
                                           "http-equiv",
                                           "content",
                                           "name",
                                           "rel",
                                           "href",
                                           "id",
                                           "data-first",
                                           "preserveAspectRatio",
                                           "viewBox",
                                           "class",
                                           "hidden",
                                           "tabindex",
                                           "role",
                                           "type",
                                           "scope",
                                           "value",
                                           "x",
                                           "y",
                                           "x1",
                                           "x2",
                                           "y1",
                                           "y2",
                                           "dx",
                                           "cx",
                                           "cy",
                                           "r",
                                           "d",
                                           "width",
                                           "height",
                                           "text-anchor",
                                           "patternUnits",
                                           "aria-label",
                                           "aria-labelledby",
                                           "aria-hidden",
                                           "data-ref",
                                           "data-json",
                                           "data-length",
                                           "data-unit"};

/// Why a page may not be sent to anybody; empty: nothing.
std::string fault_of(const std::string& page) {
  std::map<std::string, std::vector<std::string>> raw;
  for (const Tag& tag : tags_of(page, raw)) {
    const bool is_known = std::find(kHtmlElements.begin(), kHtmlElements.end(), tag.name) != kHtmlElements.end();
    if (!is_known) return "element " + tag.name;
    for (const auto& [name, value] : tag.attributes) {
      if (!kAttributes.contains(name)) return "attribute " + name;
      const bool is_fixed_link =
          value.starts_with('#') || value.starts_with("./") || value.starts_with("file:///") || value == "data:,";
      // Of rules' references, which are fixed too.
      const bool is_reference = value.starts_with("https://www.tensorflow.org/");
      if (name == "href" && !is_fixed_link && !is_reference) return "link to " + value;
    }
  }
  if (raw["script"].size() != 1 || raw["style"].size() != 1 || raw["data"].size() != 1) return "scripts";
  if (raw["data"].front().find_first_of("<>&") != std::string::npos) return "data";
  return {};
}

constexpr std::size_t kLargestPage = 200 * 1024;

TEST_CASE("pages hold nothing but what their writer writes") {
  for (const std::vector<std::string>& arguments : pages()) {
    CAPTURE(arguments.back());
    const std::string page = page_of(arguments);
    CHECK(fault_of(page) == "");
    CHECK(page.size() <= kLargestPage);
    CHECK(page == page_of(arguments));
  }
}

TEST_CASE("a page has at most 200 KB, and says what it leaves out") {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(testdata("traces"))) {
    const std::string path = entry.path().string();
    if (path.find(".expected.") != std::string::npos || !entry.is_regular_file()) continue;
    CAPTURE(path);
    CHECK(page_of({path}).size() <= kLargestPage);
    ++count;
  }
  CHECK(count > 20);
  OrderedJson steps = {{"rows", OrderedJson::array()}};
  for (int step = 0; step < 500; ++step) {
    steps["rows"].push_back({{"host", std::string(4000, 'h')}, {"step", step}, {"duration_us", 10}, {"counted", true}});
  }
  const std::string page = render_html({{"steps", steps}}, "long names");
  CHECK(page.size() <= kLargestPage);
  CHECK(page.find("\"rows_left_out\":470") != std::string::npos);
  CHECK(page.find("470 more steps are left out.") != std::string::npos);
}

TEST_CASE("pipelines of the same stages are drawn once") {
  const std::string page = page_of({testdata("traces/two_replicas_tf2.4.trace.json.gz")});
  CHECK(page.find("Not drawn: 1 pipeline more; those of the same stages that wait as long look alike.") !=
        std::string::npos);
  std::map<std::string, std::vector<std::string>> raw;
  tags_of(page, raw);
  const Json timeline = Json::parse(raw["data"].front())["timeline"];
  CHECK(timeline["pipelines"].size() == 1);
  CHECK(timeline["pipelines_left_out"] == 1);
}

TEST_CASE("no rate has an exponent, and the loop waits for other pipelines, too") {
  OrderedJson whatif = {{"pipelines", OrderedJson::array()}};
  const OrderedJson rates = {{"estimate", 2564.2}, {"low", 2000}, {"high", 3000}};
  whatif["pipelines"].push_back(
      {{"steps_per_s", {{"measured", 1000}, {"model", 1015}}}, {"fixes", {{{"words", "w"}, {"steps_per_s", rates}}}}});
  const std::string page = render_html({{"whatif", whatif}}, "x");
  CHECK(page.find("e+") == std::string::npos);
  CHECK(page.find("2,564 steps/s") != std::string::npos);
  OrderedJson window = {{"kind", "step"}, {"number", 2}, {"start_us", 0}, {"duration_us", 100}};
  window["calls"] = {{{"number", 1}, {"start_us", 0}, {"latency_us", 10}, {"stretches", OrderedJson::array()}}};
  window["other_calls"] = {{{"start_us", 40}, {"duration_us", 50}, {"pipeline", "0:4"}}};
  window["lanes"] = OrderedJson::array();
  const OrderedJson timeline = {
      {"pipelines", {{{"id", "0:0"}, {"stages", OrderedJson::array()}, {"windows", OrderedJson::array({window})}}}}};
  const std::string drawn = render_html({{"timeline", timeline}}, "one");
  CHECK(drawn.find("waits 60 us of 100 us") != std::string::npos);
  CHECK(drawn.find("waits 50 us for pipeline 0:4") != std::string::npos);
}

TEST_CASE("how many parallel calls are worth it is a rate for each number with the reason where it ends") {
  const std::string page = page_of({"whatif", testdata("traces/guide_sequential_map.xplane.pb")});
  std::map<std::string, std::vector<std::string>> raw;
  tags_of(page, raw);
  const Json pipeline = Json::parse(raw["data"].front())["whatif"]["pipelines"][0];
  const Json& curve = pipeline["curve"];
  REQUIRE(curve.is_object());
  double before = 0;
  for (const Json& point : curve["points"]) {
    const double rate = point["steps_per_s"]["estimate"];
    CHECK(rate >= 0.97 * before);
    before = std::max(before, rate);
    CHECK(point["steps_per_s"]["low"] <= rate);
    if (point["at_once"] < curve["knee"]["at_once"]) CHECK(rate < curve["knee"]["steps_per_s"]["estimate"]);
  }
  CHECK(page.find("How many parallel calls are worth it") != std::string::npos);
  CHECK(page.find(std::string(curve["knee"]["then_words"])) != std::string::npos);
  // Where nothing is to gain there is none.
  CHECK(page_of({"whatif", testdata("traces/guide_cache.xplane.pb")}).find("worth it") == std::string::npos);
}

TEST_CASE("a name that became markup would be noticed") {
  const std::string page = page_of({testdata("traces/guide_naive.xplane.pb")});
  const auto with = [&](const std::string& foreign) {
    std::string changed = page;
    return fault_of(changed.insert(changed.find("</main>"), foreign));
  };
  CHECK(with("<img src=\"x\">") == "element img");
  CHECK(with("<p onclick=\"x()\"></p>") == "attribute onclick");
  CHECK(with("<a href=\"https://example.org\">x</a>") == "link to https://example.org");
  CHECK(with("<script>1</script>") == "scripts");
}

TEST_CASE("the policy of a page allows its own style and script alone") {
  const std::string page = page_of({testdata("traces/guide_naive.xplane.pb")});
  std::map<std::string, std::vector<std::string>> raw;
  std::string policy;
  for (const Tag& tag : tags_of(page, raw)) {
    if (tag.attributes.count("http-equiv") > 0) policy = tag.attributes.at("content");
  }
  const auto is_allowed = [&](const std::string& text) {
    std::string hash = content_hash(text);
    return policy.find(hash) != std::string::npos;
  };
  CHECK(is_allowed(raw["style"].front()));
  CHECK(is_allowed(raw["script"].front()));
  CHECK_FALSE(is_allowed(raw["script"].front() + " "));
  CHECK(policy.starts_with("default-src &#39;none&#39;"));
  CHECK(page.find("style=\"") == std::string::npos);  // the policy would refuse it
  // `printf abc | openssl dgst -sha256 -binary | base64`
  CHECK(content_hash("abc") == "sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
}

TEST_CASE("the script makes no markup of text") {
  for (const char* const word : {"innerHTML", "outerHTML", "insertAdjacentHTML", "eval(", "Function(", "document.write",
                                 "fetch(", "XMLHttpRequest", "http"}) {
    CAPTURE(word);
    const bool is_namespace = std::string(word) == "http";  // of SVG, a name that is never loaded
    const std::string script =
        std::regex_replace(std::string(kPageScript), std::regex("http://www.w3.org/2000/svg"), "");
    CHECK(script.find(word) == std::string::npos);
    CHECK((is_namespace || std::string(kPageScript).find(word) == std::string::npos));
  }
}

TEST_CASE("the numbers on a page are those of its data, and the data those of the JSON report") {
  std::size_t count = 0;
  for (const std::vector<std::string>& arguments : pages()) {
    CAPTURE(arguments.back());
    const std::string page = page_of(arguments);
    std::map<std::string, std::vector<std::string>> raw;
    const std::vector<Tag> tags = tags_of(page, raw);
    const Json data = Json::parse(raw["data"].front());
    for (const Tag& tag : tags) {
      if (tag.name == "data") {
        const Json& value = data.at(Json::json_pointer(tag.attributes.at("data-json")));
        CHECK(std::stod(tag.attributes.at("value")) == doctest::Approx(value.get<double>()));
        ++count;
      }
      if (tag.attributes.count("data-ref") > 0) {
        CHECK(data.at(Json::json_pointer(tag.attributes.at("data-ref"))).is_object());
      }
    }
  }
  CHECK(count > 20);
  const std::string trace = testdata("traces/guide_naive.xplane.pb");
  std::map<std::string, std::vector<std::string>> raw;
  tags_of(page_of({trace}), raw);
  Json report = Json::parse(run_tool({trace, "--format", "json"}).output);
  report["trace"]["files"][0]["path"] = "guide_naive.xplane.pb";  // no folder goes out with a page
  CHECK(Json::parse(raw["data"].front())["report"] == report);
}

TEST_CASE("a window is drawn as waiting where a call overlaps it, and nowhere else") {
  const auto call = [](double start, double latency) {
    return OrderedJson{
        {"number", 1}, {"start_us", start}, {"latency_us", latency}, {"stretches", OrderedJson::array()}};
  };
  OrderedJson window = {{"kind", "typical_steps"}, {"number", 2}, {"start_us", 100}, {"duration_us", 100}};
  window["calls"] = {call(80, 30), call(105, 15), call(190, 40)};  // before, over the end of that, beyond the window
  window["lanes"] = OrderedJson::array();
  const OrderedJson timeline = {
      {"pipelines", {{{"id", "0:0"}, {"stages", OrderedJson::array()}, {"windows", OrderedJson::array({window})}}}}};
  const std::string page = render_html({{"timeline", timeline}}, "one");
  CHECK(page.find("waits 30 us of 100 us") != std::string::npos);
}

TEST_CASE("where there is nothing to judge a page says nothing of how sure that is; a doubt makes it grey") {
  OrderedJson report = {{"trace", {{"events", 0}, {"iterator_events", 0}}}};
  report["verdict"] = {{"status", "healthy"}, {"input_share", nullptr}, {"confidence", 0.9}, {"summary", ""}};
  const auto page = [&] { return render_html({{"report", report}}, "x"); };
  CHECK(page().find("Confidence <data") == std::string::npos);
  report["verdict"]["input_share"] = 0.01;
  CHECK(page().find("class=\"verdict good\"") != std::string::npos);
  report["verdict"]["confidence"] = 0.3;
  report["verdict"]["doubt"] = "one step only";
  CHECK(page().find("class=\"verdict good\"") == std::string::npos);
  CHECK(page().find("because of this: one step only") != std::string::npos);
}

TEST_CASE("a page says where the values over time of a large file are left out") {
  const OrderedJson autotune = {{"history_limit_bytes", 256'000'000}, {"pipelines", OrderedJson::array()}};
  const std::string page = render_html({{"autotune", autotune}}, "large");
  CHECK(page.find("Parallelism and buffers over time") != std::string::npos);
  INFO(page.substr(page.find("Left out"), 100));
  CHECK(page.find("Left out: this page has them for files of up to 256 MB.") != std::string::npos);
  const OrderedJson small = {{"pipelines", OrderedJson::array()}};
  CHECK(render_html({{"autotune", small}}, "small").find("Left out") == std::string::npos);
}

TEST_CASE("every picture says what it shows, and a table has what its sections draw") {
  for (const std::vector<std::string>& arguments : pages()) {
    CAPTURE(arguments.back());
    std::map<std::string, std::vector<std::string>> raw;
    std::set<std::string> ids;
    for (const Tag& tag : tags_of(page_of(arguments), raw)) {
      const bool is_image = tag.attributes.count("role") > 0 && tag.attributes.at("role") == "img";
      if (tag.name == "svg" && is_image) CHECK_FALSE(tag.attributes.at("aria-label").empty());
      const bool is_inner = tag.attributes.count("class") > 0 && tag.attributes.at("class") == "z";
      if (tag.name == "svg" && !is_image && !is_inner) CHECK(tag.attributes.count("aria-hidden") == 1);
      if (tag.attributes.count("id") > 0) CHECK(ids.insert(tag.attributes.at("id")).second);
    }
  }
}

TEST_CASE("text enters a page escaped") {
  HtmlWriter page;
  page.open("p", {{"class", "\"><img>"}});
  page.text("<b>&'\"");
  page.close();
  page.open("pre");
  page.lines("a\n<b>");
  page.close();
  CHECK(std::move(page).finish() ==
        "<p class=\"&quot;&gt;&lt;img&gt;\">&lt;b&gt;&amp;&#39;&quot;</p>\n<pre>a\n&lt;b&gt;</pre>");
}

TEST_CASE("positions are per cents of the whole") {
  CHECK(percent_of(1, 4) == "25%");
  CHECK(percent_of(5, 4) == "100%");
  CHECK(percent_of(-1, 4) == "0%");
  CHECK(percent_of(1, 0) == "0%");
}

}  // namespace
}  // namespace doctor::html_page_test
