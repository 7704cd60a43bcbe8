// What a page draws as waiting beside the table of calls, for every shipped trace.

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "built_paths.h"
#include "report/html/html_page.h"
#include "run_tool.h"
#include "text/numbers.h"

namespace doctor::drawn_waiting_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

std::vector<std::string> shipped_traces() {
  std::vector<std::string> traces;
  for (const fs::directory_entry& entry : fs::directory_iterator(source_dir() + "/testdata/traces")) {
    const std::string path = entry.path().string();
    if (entry.is_regular_file() && path.find(".expected.") == std::string::npos) traces.push_back(path);
  }
  std::sort(traces.begin(), traces.end());
  return traces;
}

/// The time of the window in which some call of the table lasts, in us.
double waited_in(const Json& window, const Json& calls) {
  const double begin = window["start_us"].get<double>();
  const double end = begin + window["duration_us"].get<double>();
  double waited = 0;
  double done = begin;
  for (const Json& call : calls) {  // in the order of their starts
    const double start = std::max(done, call["start_us"].get<double>());
    const double until = std::min(end, call["start_us"].get<double>() + call["latency_us"].get<double>());
    waited += std::max(0.0, until - start);
    done = std::max(done, until);
  }
  return waited;
}

Json by_start(Json calls) {
  std::sort(calls.begin(), calls.end(),
            [](const Json& a, const Json& b) { return a["start_us"].get<double>() < b["start_us"].get<double>(); });
  return calls;
}

/// What the table of calls makes of the windows of a page: "waits 3 ms of 5 ms"; and of their calls: "call 3: waits 1
/// ms".
std::set<std::string> words_of_table(const Json& timeline, const Json& table) {
  std::set<std::string> words;
  for (const Json& pipeline : timeline["pipelines"]) {
    const auto found = std::find_if(table["pipelines"].begin(), table["pipelines"].end(),
                                    [&](const Json& listed) { return listed["id"] == pipeline["id"]; });
    if (found == table["pipelines"].end()) continue;
    const Json calls = by_start((*found)["calls"]);
    for (const Json& call : calls) {
      words.insert("call " + format_number(call["number"].get<double>()) + ": waits " +
                   format_microseconds(call["latency_us"].get<double>()));
    }
    for (const Json& window : pipeline["windows"]) {
      if (window["calls_left_out"].get<int>() > 0) continue;
      words.insert("waits " + format_microseconds(waited_in(window, calls)) + " of " +
                   format_microseconds(window["duration_us"].get<double>()));
    }
  }
  return words;
}

std::vector<std::string> all_matches(const std::string& text, const std::regex& pattern) {
  std::vector<std::string> found;
  for (std::sregex_iterator match(text.begin(), text.end(), pattern); match != std::sregex_iterator(); ++match) {
    found.push_back(match->str());
  }
  return found;
}

TEST_CASE("what a page draws as waiting is what the table of calls says, for every shipped trace") {
  const std::regex window_note("waits [0-9.,]+ [a-z]+ of [0-9.,]+ [a-z]+");
  const std::regex call_title("call [0-9,]+: waits [0-9.,]+ [a-z]+");
  std::size_t drawn = 0;
  for (const std::string& trace : shipped_traces()) {
    CAPTURE(trace);
    const Ended page = run_tool({trace, "--format", "html"});
    if (page.code == 2) continue;  // one that cannot be read
    const std::size_t begin = page.output.find("id=\"data\">");
    REQUIRE(begin != std::string::npos);
    const std::size_t end = page.output.find("</script>", begin);
    const Json documents = Json::parse(page.output.substr(begin + 10, end - begin - 10));
    if (!documents.contains("timeline")) continue;
    const Ended table = run_tool({"show", "calls", trace, "--format", "json", "--top", "0"});
    if (table.code == 3) continue;  // nothing of tf.data
    REQUIRE(table.code == 0);
    const std::set<std::string> told = words_of_table(documents["timeline"], Json::parse(table.output));
    const std::string shown = page.output.substr(0, begin);
    for (const std::regex* const pattern : {&window_note, &call_title}) {
      for (const std::string& words : all_matches(shown, *pattern)) {
        CAPTURE(words);
        CHECK(told.contains(words));
        ++drawn;
      }
    }
  }
  CHECK(drawn > 100);
}

}  // namespace
}  // namespace doctor::drawn_waiting_test
