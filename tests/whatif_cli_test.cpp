// The command `whatif` from outside.

#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "built_paths.h"
#include "command_line/option_table.h"
#include "measured_pipeline.h"
#include "predicted_page.h"
#include "run_tool.h"

namespace doctor::whatif_page_test {
namespace {

const std::string kTraces = source_dir() + "/testdata/traces/";

const std::string kSlow = kTraces + "seed_example1.xplane.pb";

const std::string kTogether = kTraces + "guide_sequential_map.xplane.pb";

TEST_CASE("whatever the page advises can be pasted, and comes to the same") {
  const Json page = Json::parse(run_tool({"whatif", "--format", "json", kTogether}).output);
  const Json& pipeline = page["pipelines"][0];
  REQUIRE(pipeline["fixes"].size() >= 3);
  REQUIRE_FALSE(pipeline["together"].empty());
  for (const std::string list : {"fixes", "together"}) {
    for (const Json& fix : pipeline[list]) {
      std::vector<std::string> arguments = {"whatif", "--format", "json", kTogether};
      std::string specs = fix["fix"].get<std::string>() + " + ";
      while (!specs.empty()) {
        arguments.insert(arguments.end(), {"--fix", specs.substr(0, specs.find(" + "))});
        specs.erase(0, specs.find(" + ") + 3);
      }
      const Json asked = Json::parse(run_tool(arguments).output)["asked"];
      CAPTURE(asked["fix"].get<std::string>());
      CHECK(asked == fix);
    }
  }
}

TEST_CASE("more cores and a faster consumer are predicted with all that changes") {
  const auto predict = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"whatif", "--format", "json", "--fix", "parallel_map", kSlow});
    return Json::parse(run_tool(arguments).output);
  };
  const Json now = predict({});
  const Json larger = predict({"--cores", "8"});
  // The pool has as many threads as the machine has cores.
  CHECK(now["asked"]["gain"] < 1.5);
  CHECK(larger["asked"]["gain"] > 4);
  CHECK(larger["pipelines"][0]["steps_per_s"]["model"] == now["pipelines"][0]["steps_per_s"]["model"]);
  CHECK(predict({"--cores", "1"})["asked"]["gain"] < now["asked"]["gain"]);
  const auto ceiling = [](const Json& page) {
    return page["pipelines"][0]["without_input"]["steps_per_s"]["estimate"].get<double>();
  };
  CHECK(ceiling(predict({"--consumer", "2"})) == doctest::Approx(2 * ceiling(now)).epsilon(0.1));
}

TEST_CASE("--ideal reads the ceiling from a recording or a folder of several") {
  const std::string ideal = kTraces + "guide_cache.xplane.pb";
  const auto pipeline_of = [](const std::string& ceiling) {
    const Ended ended = run_tool({"whatif", "--format", "json", "--ideal", ceiling, kTogether});
    CHECK(ended.code == 0);
    return Json::parse(ended.output)["pipelines"][0];
  };
  const Json pipeline = pipeline_of(ideal);
  const Json itself = Json::parse(run_tool({"whatif", "--format", "json", ideal}).output)["pipelines"][0];
  CHECK(pipeline["ideal"]["steps_per_s"] == itself["steps_per_s"]["model"]);
  CHECK(pipeline["ideal"]["file"] == ideal);
  const double now = pipeline["steps_per_s"]["model"].get<double>();
  const double size = pipeline["ideal"]["gap"].get<double>();
  for (const std::string list : {"fixes", "together"}) {
    for (const Json& fix : pipeline[list]) {
      const double closes = (fix["steps_per_s"]["estimate"].get<double>() - now) / size;
      CHECK(fix["closes"].get<double>() == doctest::Approx(std::clamp(closes, 0.0, 1.0)));
    }
  }
  const TemporaryDirectory folder;
  folder.write("a.xplane.pb", read_whole_file(ideal));
  folder.write("b.xplane.pb", read_whole_file(ideal));
  CHECK(pipeline_of(folder.path())["ideal"]["recordings"] == 2);
  CHECK(pipeline_of(folder.path())["ideal"]["gap"] == pipeline["ideal"]["gap"]);
  // Files of one run are hosts: all wait for the slowest.
  folder.write("logs/plugins/profile/run/fast.xplane.pb", read_whole_file(ideal));
  folder.write("logs/plugins/profile/run/slow.xplane.pb", read_whole_file(kTogether));
  const Json hosts = pipeline_of(folder / "logs")["ideal"];
  CHECK(hosts["recordings"] == 1);
  CHECK(hosts["steps_per_s"] == pipeline_of(kTogether)["ideal"]["steps_per_s"]);
  CHECK(has(run_tool({"whatif", "--ideal", kTogether, ideal}).output, "the ideal run is slower than this trace: "));
}

TEST_CASE("the exit status says whether anything could be predicted") {
  const Ended predicted = run_tool({"whatif", kSlow});
  CHECK(predicted.code == 0);
  CHECK(predicted.errors.empty());
  CHECK(has(predicted.output, "parallel_map:Map"));
  const Ended nothing = run_tool({"whatif", kTraces + "no_get_next_tf2.4.xplane.pb"});
  CHECK(nothing.code == 3);
  CHECK(nothing.output == "nothing can be predicted: nothing in the trace takes elements from a pipeline\n");
  CHECK(run_tool({"whatif", kTraces + "session_timeline_tf2.21.json", "--format", "csv"}).code == 3);
  const TemporaryDirectory folder;
  CHECK(run_tool({"whatif", kSlow, "-o", folder / "page.txt"}).code == 0);
  CHECK(read_whole_file(folder / "page.txt") == predicted.output);
}

TEST_CASE("wrong usage of whatif ends with 2 and says what is right") {
  const auto error_of = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "whatif");
    const Ended ended = run_tool(arguments);
    CHECK(ended.code == 2);
    CHECK(ended.output.empty());
    return ended.errors;
  };
  CHECK(has(error_of({}), "no trace given"));
  CHECK(has(error_of({"--fix", "parallel_mpa", kSlow}), "did you mean 'parallel_map'?"));
  CHECK(has(error_of({"--fix", "cache:Foo", kSlow}), "no iterator of this trace ends in 'Foo'; known: "));
  CHECK(has(error_of({"--fix", "prefetch,q=2", kSlow}), "settings are p=N, p=auto and cycle=N"));
  CHECK(has(error_of({"--consumer", "0", kSlow}), "--consumer: '0' is not a number from 0.001 to 1000"));
  CHECK(has(error_of({"--consumer", "inf", kSlow}), "'inf' is not a number"));
  CHECK(has(error_of({"--min-gain", "0.99", kSlow}), "--min-gain: '0.99' is not a number from 1 to 1000"));
  CHECK(has(error_of({"--cores", "0", kSlow}), "--cores: '0' is not a whole number from 1 to 4096"));
  CHECK(has(error_of({"--format", "sarif", kSlow}), "--format"));
  CHECK(has(error_of({"--ideal", kTraces + "absent", kSlow}), "absent: no such file or directory"));
  CHECK(
      has(error_of({"--ideal", kTraces + "no_get_next_tf2.4.xplane.pb", kSlow}),
          "no_get_next_tf2.4.xplane.pb: the ideal run shows no steps of a consumer, so it measures no ceiling; record "
          "it with 'scripts/record --ideal'"));
  CHECK(has(error_of({"--ideal", kSlow, "--cores", "4", kSlow}), "--ideal: is a ceiling of the machine as it is"));
  const TemporaryDirectory folder;
  const std::string ideal = folder.write("ideal.xplane.pb", read_whole_file(kSlow));
  CHECK(has(error_of({"--ideal", ideal, kSlow, "-o", ideal}), ideal));
}

TEST_CASE("the help of whatif has all kinds of fixes, and the gain that rules ask for") {
  const std::string_view help = find_option(Command::whatif, "fix")->help;
  for (const std::string_view kind : fix_kinds()) CHECK_MESSAGE(help.find(kind) != std::string_view::npos, kind);
  CHECK(std::stod(std::string(find_option(Command::whatif, "min-gain")->default_text)) == kLeastGain);
}

}  // namespace
}  // namespace doctor::whatif_page_test
