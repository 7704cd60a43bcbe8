// Settings, budgets and suppressions from outside: files, variables, exit codes, what is printed where.

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "run_tool.h"
#include "synthetic_trace.h"
#include "unwrapped.h"

namespace doctor::config_cli_test {
namespace {

using Json = nlohmann::json;

/// Steps of 10 ms, of which `wait_us` are spent in a Map.
std::string trace_with_waits(double wait_us) {
  SyntheticTrace trace;
  for (int step = 0; step < 12; ++step) {
    const double start = 10'000.0 * step;
    trace.add("main", "IteratorGetNextOp::DoCompute", start, wait_us);
    trace.iterator("main", "Iterator::Root", 1, 0, start + 1, wait_us - 2);
    trace.iterator("main", "Iterator::Root::Map", 2, 1, start + 2, wait_us - 4);
  }
  return trace.to_chrome_json();
}

bool holds(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a budget decides about the exit code, whatever --fail-on says") {
  const TemporaryDirectory folder;
  const std::string slow = folder.write("slow.trace.json", trace_with_waits(9'000));
  const std::string fast = folder.write("fast.trace.json", trace_with_waits(20));
  SyntheticTrace without_tf_data;
  without_tf_data.add("main", "Add:AddV2", 10, 10);
  const std::string none = folder.write("none.trace.json", without_tf_data.to_chrome_json());
  struct Case {
    std::string trace;
    std::vector<std::string> options;
    int code;
    std::string_view line;
  };
  const std::vector<Case> cases = {
      {slow,
       {"--fail-on", "never", "--max-input-share", "0.5"},
       1,
       "max_input_share in pipeline 0:0 is exceeded: 90%, at most 50%"},
      {slow, {"--fail-on", "never", "--max-input-share", "0.95"}, 0, ""},
      {slow,
       {"--fail-on", "never", "--max-get-next-p95", "8999"},
       1,
       "max_get_next_p95_us in pipeline 0:0 is exceeded"},
      {slow, {"--fail-on", "never", "--max-get-next-p95", "9001"}, 0, ""},
      {slow, {"--fail-on", "never", "--forbid-rule", "sequential-map"}, 1, "rules_must_not_fire sequential-map is"},
      {slow, {"--fail-on", "never", "--max-input-share", "*::Shuffle=0.9"}, 3, "no pipeline of the trace fits"},
      {slow, {"--max-input-share", "*::Shuffle=0.9"}, 1, "no pipeline of the trace fits"},
      {fast, {"--max-input-share", "0.1"}, 0, ""},
      {fast, {"--max-input-share", "0.0001"}, 1, "is exceeded"},
      {fast, {"--max-input-share", "device:*=0.1"}, 3, "no pipeline of the trace fits"},
      {none, {"--max-input-share", "0.1"}, 3, "nothing in the trace takes elements from a pipeline"},
  };
  for (const Case& test : cases) {
    std::vector<std::string> arguments = test.options;
    arguments.push_back(test.trace);
    const Ended ended = run_tool(arguments);
    CAPTURE(ended.output);
    CAPTURE(ended.errors);
    CHECK(ended.code == test.code);
    CHECK(holds(unwrapped(ended.output), test.line));
    CHECK(holds(ended.output, "  Budget") == !test.line.empty());
  }
  const Json page = Json::parse(run_tool({slow, "--max-input-share", "0.5", "--format", "json"}).output);
  REQUIRE(page["budgets"].size() == 1);
  CHECK(page["budgets"][0]["limit"] == 0.5);
  CHECK(page["budgets"][0]["exceeded"] == true);
}

TEST_CASE("what is suppressed does not fail, until it expires") {
  const TemporaryDirectory folder;
  const std::string slow = folder.write("slow.trace.json", trace_with_waits(9'000));
  const auto file = [&](const std::string& expires) {
    std::string toml;
    const Json page = Json::parse(run_tool({slow, "--no-config", "--format", "json"}).output);
    for (const Json& finding : page["findings"]) {
      toml += "[[suppress]]\nrule = \"" + finding["rule"].get<std::string>() + "\"\nreason = \"known\"\n" + expires;
    }
    return folder.write("c.toml", toml);
  };
  const std::string config = file("expires = 9999-12-31\n");
  const Ended accepted = run_tool({slow, "--config", config});
  CHECK(accepted.code == 0);
  CHECK(accepted.errors.empty());
  CHECK(holds(accepted.output, "  Accept  "));
  CHECK(holds(unwrapped(accepted.output), "suppressed (-v says why): "));
  const Json page = Json::parse(run_tool({slow, "--config", config, "--format", "json"}).output);
  CHECK(page["findings"][0]["suppressed"] == Json({{"reason", "known"}, {"expires", "9999-12-31"}}));
  CHECK(run_tool({slow, "--config", config, "--suppress", "cpu-saturated"}).errors.empty());
  CHECK(run_tool({slow, "--config", config, "--suppress", "cpu-saturated", "-v"})
            .errors.find("tfdata-doctor: --suppress: the suppression of cpu-saturated fits no finding\n") !=
        std::string::npos);

  const std::string expired = file("expires = 1999-12-31\n");
  const Ended failed = run_tool({slow, "--config", expired});
  CHECK(failed.code == 1);
  CHECK(holds(failed.errors, "c.toml:1: the suppression of "));
  CHECK(holds(failed.errors, " expired on 1999-12-31; renew it or remove it"));
  CHECK(run_tool({slow, "--config", expired, "-q"}).errors.empty());
}

TEST_CASE("config show prints every setting with its source, and ends with 2 where the file is wrong") {
  const TemporaryDirectory folder;
  const std::string config = folder.write(
      "c.toml", "fail-on = \"error\"\n[budgets]\nmax_input_share = 0.1\n[thresholds.input-bound]\nmin_share = 0.3\n");
  const EnvironmentVariable color("TFDATA_DOCTOR_COLOR", "never");
  const Ended text = run_tool({"config", "show", "--config", config, "--threads", "2"});
  CHECK(text.code == 0);
  CHECK(text.errors.empty());
  CHECK(holds(text.output, "configuration file: " + config + "\n"));
  for (const std::string& line :
       {"fail-on = \"error\"                       " + config + ":1\n", std::string("threads = 2"),
        std::string("--threads\n"), std::string("environment TFDATA_DOCTOR_COLOR\n"),
        "thresholds.input-bound.min_share = 0.3  " + config + ":5\n", std::string("verbose = false"),
        std::string("max-memory = -")}) {
    CAPTURE(text.output);
    CHECK_MESSAGE(holds(text.output, line), line);
  }
  const Json page = Json::parse(run_tool({"config", "show", "--config", config, "--format", "json"}).output);
  CHECK(page["schema"] == "tfdata-doctor.config/1");
  CHECK(page["file"] == config);
  std::size_t seen = 0;
  for (const Json& setting : page["settings"]) {
    if (setting["key"] == "budgets.max_input_share") {
      ++seen;
      CHECK(setting["value"] == 0.1);
      CHECK(setting["source"] == config + ":3");
    }
    if (setting["key"] == "max-memory") {
      ++seen;
      CHECK(setting["value"].is_null());
      CHECK(setting["source"] == "default");
    }
  }
  CHECK(seen == 2);

  const std::string wrong = folder.write("w.toml", "fail-onn = 1\nthreads = 0\n");
  const Ended broken = run_tool({"config", "show", "--config", wrong});
  CHECK(broken.code == 2);
  CHECK(broken.output.empty());
  CHECK(broken.errors == "tfdata-doctor: " + wrong + ":1:1: unknown key 'fail-onn'; did you mean 'fail-on'?\n" +
                             "tfdata-doctor: " + wrong + ":2:11: threads: '0' is not a whole number from 1 to 256\n");
  CHECK(run_tool({"config", "sho"}).errors == "tfdata-doctor: config: unknown value 'sho'; did you mean 'show'?\n");
  CHECK(run_tool({"config", "show", "x"}).code == 2);
}

TEST_CASE("what stands in a file cannot write to the terminal") {
  const TemporaryDirectory folder;
  const std::string config = folder.write("c.toml", "\"\\u001b[31m\" = 1\n[budgets]\n\"a\\nb\" = 1\n");
  const Ended broken = run_tool({"config", "show", "--config", config});
  CHECK(broken.code == 2);
  CHECK(broken.errors.find('\x1b') == std::string::npos);
  CHECK(holds(broken.errors, "unknown key '\\x1b[31m'"));
  CHECK(holds(broken.errors, "unknown key 'a\\x0ab'"));
  const std::string pattern =
      folder.write("p.toml", "[[budgets.pipeline]]\nmatch = \"\\u001b[31m\"\nmax_input_share = 0.1\n");
  CHECK(run_tool({"config", "show", "--config", pattern}).output.find('\x1b') == std::string::npos);
  const std::string slow = folder.write("slow.trace.json", trace_with_waits(9'000));
  CHECK(run_tool({slow, "--config", pattern}).output.find('\x1b') == std::string::npos);
}

TEST_CASE("a slip in the action of a page, a rule or a word is told with the nearest") {
  CHECK(holds(run_tool({"cofnig", "show"}).errors, "did you mean 'config'?"));
  CHECK(holds(run_tool({"x.pb", "--max-input-shar", "1"}).errors, "did you mean '--max-input-share'?"));
  CHECK(holds(run_tool({"x.pb", "--forbid-rule", "slow-sorce"}).errors, "did you mean 'slow-source'?"));
}

}  // namespace doctor::config_cli_test
