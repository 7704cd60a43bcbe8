// `checklist`: the questions of the guide in its order, with answers from recorded traces.

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "built_paths.h"
#include "run_tool.h"

namespace doctor::checklist_test {
namespace {

using Json = nlohmann::json;

std::string trace(const std::string& name) {
  return source_dir() + "/testdata/traces/" + name;
}

Json items_of(const std::string& name) {
  const Ended ended = run_tool({"checklist", "--format", "json", trace(name)});
  CHECK(ended.code == 0);
  const Json page = Json::parse(ended.output);
  CHECK(page["schema"] == "tfdata-doctor.checklist/1");
  return page["items"];
}

std::vector<std::string> answers_of(const std::string& name) {
  std::vector<std::string> answers;
  for (const Json& item : items_of(name)) answers.push_back(item["answer"]);
  return answers;
}

TEST_CASE("the questions are those of the guide, in its order, each with its place there") {
  const Json items = items_of("guide_naive.xplane.pb");
  const std::vector<std::string> questions = {"Is your tf.data pipeline producing data fast enough?",
                                              "Are you prefetching data?", "Are you reaching high CPU utilization?",
                                              "Where is the bottleneck?", "How is it addressed?"};
  REQUIRE(items.size() == questions.size());
  for (std::size_t index = 0; index < questions.size(); ++index) {
    CHECK(items[index]["question"] == questions[index]);
    CHECK(items[index]["see"]["url"].get<std::string>().starts_with("https://www.tensorflow.org/guide/data_perf"));
  }
}

TEST_CASE("a pipeline that waits and does not prefetch has something to address") {
  const Json items = items_of("seed_example1.xplane.pb");
  CHECK(items[0]["answer"] == "no");
  CHECK(items[1]["answer"] == "no");
  CHECK(items[3]["answer"] == "yes");
  CHECK(items[4]["answer"] == "yes");
  CHECK_FALSE(items[4]["advice"].empty());
}

TEST_CASE("a healthy pipeline is fast enough, and nothing is to be addressed") {
  const std::vector<std::string> answers = answers_of("healthy_tf2.4.trace.json.gz");
  REQUIRE(answers.size() == 5);
  CHECK(answers[0] == "yes");
  CHECK(answers[1] == "yes");
  CHECK(answers[3] == "no");
  CHECK(answers[4] == "unknown");
}

TEST_CASE("a trace without a pipeline has no answers, and says why") {
  const Ended ended = run_tool({"checklist", trace("no_tf_data_tf2.4.xplane.pb")});
  CHECK(ended.code == 3);
  CHECK(ended.output.starts_with("NO ANSWERS: "));
  const Ended json = run_tool({"checklist", "--format", "json", trace("no_tf_data_tf2.4.xplane.pb")});
  CHECK(Json::parse(json.output)["items"].empty());
}

TEST_CASE("of another loader than tf.data only what its frames show is asked") {
  const std::string file = source_dir() + "/testdata/loaders/sequential_map/vm.xplane.pb.gz";
  const Json items = Json::parse(run_tool({"checklist", "--format", "json", file}).output)["items"];
  REQUIRE(items.size() == 4);
  for (const Json& item : items) CHECK(item["see"].is_null());
  CHECK(items[0]["answer"] == "no");
  CHECK(items[1]["words"] == "the loop makes each when it asks for it");
  CHECK(items[2]["words"].get<std::string>().starts_with(
      "Grain's map (decode at grain_programs.py:34): 95% of the work"));
  CHECK(items[3]["advice"].size() == 2);
  const std::string alone = source_dir() + "/testdata/loaders/torch_workers/vm.xplane.pb.gz";
  CHECK(Json::parse(run_tool({"checklist", "--format", "json", alone}).output)["items"][2]["evidence"].empty());
}

TEST_CASE("Markdown links each question to the guide") {
  const std::string text = run_tool({"checklist", "--format", "markdown", trace("seed_example1.xplane.pb")}).output;
  CHECK(text.starts_with("# tf.data checklist\n"));
  CHECK(text.find("## 2. [Are you prefetching data?](https://www.tensorflow.org/guide/"
                  "data_performance_analysis#2_are_you_prefetching_data)") != std::string::npos);
  CHECK(text.find("```python\n") != std::string::npos);
}

}  // namespace
}  // namespace doctor::checklist_test
