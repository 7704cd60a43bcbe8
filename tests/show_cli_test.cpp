// Pages of `show` from outside: which options they take and what they print.

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "io/file_descriptor.h"
#include "pseudo_terminal.h"
#include "run_tool.h"
#include "synthetic_trace.h"
#include "waiting_trace.h"

namespace doctor::cli_test {
namespace {

TEST_CASE("options of one page are errors on another, and so is CSV where there is none") {
  const auto error_of = [](const std::vector<std::string>& arguments) {
    const Ended ended = run_tool(arguments);
    CHECK(ended.code == 2);
    CHECK(ended.output.empty());
    return ended.errors;
  };
  CHECK(is_error_line(error_of({"show", "tree", "--call", "1", "x.pb"}), "unknown option '--call' of show tree"));
  CHECK(is_error_line(error_of({"show", "tree", "--top", "1", "x.pb"}), "unknown option '--top' of show tree"));
  CHECK(is_error_line(error_of({"show", "tree", "--pipeline", "0:0", "x.pb"}), "unknown option '--pipeline'"));
  CHECK(is_error_line(error_of({"--top", "1", "x.pb"}), "unknown option '--top' of diagnose"));
  CHECK(is_error_line(error_of({"show", "tree", "--format", "csv", "x.pb"}),
                      "no csv output for this page; known: text, json, html"));
  CHECK(is_error_line(error_of({"x.pb", "--format", "csv"}), "no csv output for this command; known: text, json"));
  CHECK(is_error_line(error_of({"show", "calls", "--format", "cvs", "x.pb"}), "did you mean 'csv'?"));
  CHECK(is_error_line(error_of({"show", "calls", "--call", "0", "x.pb"}), "'0' is not a whole number from 1 up"));
  CHECK(is_error_line(error_of({"show", "calls", "--top", "-1", "x.pb"}), "'-1' is not a whole number from 0 up"));
}

TEST_CASE("show calls does not judge; a call that is not there is an error") {
  const TemporaryDirectory folder;
  const std::string slow = folder.write("slow.trace.json", slow_trace());
  const Ended ended = run_tool({"show", "calls", slow, "--format", "json", "--top", "1"});
  CHECK(ended.code == 0);
  const Json pipeline = Json::parse(ended.output)["pipelines"][0];
  CHECK(pipeline["calls"].size() == 1);
  const int count = pipeline["call_count"].get<int>();
  CHECK(count > 1);
  CHECK(run_tool({"show", "--call", std::to_string(count), "calls", slow}).code == 0);
  const Ended beyond = run_tool({"show", "calls", "--call", std::to_string(count + 1), slow});
  CHECK(beyond.code == 2);
  CHECK(beyond.output.empty());
  CHECK(is_error_line(beyond.errors, "pipeline " + pipeline["id"].get<std::string>() + " has"));
  const std::string other = folder.write("other.trace.json", trace_without_tf_data());
  CHECK(run_tool({"show", "calls", other}).code == 3);
  CHECK(run_tool({"show", "calls", "--call", "1", other}).code == 3);
}

TEST_CASE("show timeline draws typical steps, or the call or the step that is asked for") {
  const TemporaryDirectory folder;
  const std::string slow = folder.write("slow.trace.json", slow_trace());
  const Ended typical = run_tool({"show", "timeline", slow});
  CHECK(typical.code == 0);
  CHECK(typical.output.find("the training loop") != std::string::npos);
  CHECK(run_tool({"show", "timeline", "--call", "1", slow}).output.find("call 1 and as much time before it") !=
        std::string::npos);
  CHECK(run_tool({"show", "timeline", "--call", "1", "--step", "1", slow}).code == 2);
  CHECK(is_error_line(run_tool({"show", "timeline", "--step", "123456", slow}).errors, "no such step"));
  CHECK(run_tool({"show", "timeline", "--format", "csv", slow}).output.starts_with("pipeline,host,window,number,what"));
  CHECK(is_error_line(run_tool({"show", "calls", "--step", "1", "x.pb"}).errors, "it is for 'show timeline'"));
  CHECK(run_tool({"show", "timeline", folder.write("none.trace.json", trace_without_tf_data())}).code == 3);
}

TEST_CASE("the pages of the Profiler guide have their keys, with tf.data and without") {
  const TemporaryDirectory folder;
  const std::string slow = testdata("traces/sequential_interleave_tf2.21.xplane.pb");
  const auto page_of = [](const std::string& page, const std::string& trace) {
    const Ended ended = run_tool({"show", page, "--format", "json", trace});
    CHECK(ended.code == 0);
    return Json::parse(ended.output);
  };
  const Json overview = page_of("overview", slow)["overview"];
  CHECK(overview["step_time"]["count"] == 10);
  for (const char* const key : {"average_ms", "stddev_ms", "min_ms", "max_ms"}) CHECK(overview["step_time"][key] > 0);
  double sum = 0;
  for (const char* const key : {"compilation", "output", "input", "kernel_launch", "host_compute", "device_to_device",
                                "device_compute", "other"}) {
    REQUIRE(overview["breakdown_ms"].contains(key));
    sum += overview["breakdown_ms"][key].get<double>();
  }
  CHECK(sum == doctest::Approx(overview["step_time"]["average_ms"].get<double>()));
  CHECK(overview["input_share"].get<double>() > 0.8);
  CHECK(overview["environment"]["device_type"] == "CPU");
  CHECK(overview["top_ops"].size() <= 10);
  CHECK(overview["recommendation"]["next_steps"].size() > 1);
  for (const std::string page : {"input", "ops", "steps"}) CHECK(page_of(page, slow)["rows"].size() > 1);
  CHECK(page_of("input", slow)["host"]["read_in_advance_us"] > 0);

  const std::string other = testdata("traces/no_tf_data_tf2.4.xplane.pb");
  CHECK(page_of("overview", other)["overview"]["step_time"]["count"] == 8);
  CHECK(page_of("ops", other)["rows"].size() > 1);
  CHECK(run_tool({"show", "input", other}).code == 3);
  CHECK(run_tool({"show", "ops", testdata("traces/empty.xplane.pb")}).code == 3);
}

TEST_CASE("of the steps only those are made that are shown, and the others are counted") {
  const TemporaryDirectory folder;
  const std::string trace = folder.write("slow.trace.json", slow_trace());
  const auto page = [&](const std::vector<std::string>& options) {
    std::vector<std::string> arguments = {"show", "steps", "--format", "json", trace};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return Json::parse(run_tool(arguments).output);
  };
  const Json all = page({});
  CHECK(all["rows"].size() == 11);
  CHECK(!all.contains("rows_left_out"));
  const Json first = page({"--top", "2"});
  CHECK(first["rows"] == Json::array({all["rows"][0], all["rows"][1]}));
  CHECK(first["rows_left_out"] == 9);
  const Json latest = page({"--top", "1", "--sort", "start_us"});
  CHECK(latest["rows"] == Json::array({all["rows"].back()}));
  CHECK(latest["rows_left_out"] == 10);
  CHECK(run_tool({"show", "steps", "--top", "2", trace}).output.find("... and 9 more rows") != std::string::npos);
}

TEST_CASE("tables are sorted and cut as asked") {
  const std::string trace = testdata("traces/sequential_interleave_tf2.21.xplane.pb");
  const auto rows_of = [&](const std::vector<std::string>& options) {
    std::vector<std::string> arguments = {"show", "ops", "--format", "json", trace};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Ended ended = run_tool(arguments);
    CHECK(ended.code == 0);
    return Json::parse(ended.output)["rows"];
  };
  const Json all = rows_of({});
  CHECK(rows_of({"--top", "3"}).size() == 3);
  CHECK(rows_of({"--top", "0"}).size() == all.size());
  const Json sorted = rows_of({"--sort", "occurrences"});
  CHECK(sorted[0]["occurrences"] >= sorted[1]["occurrences"]);
  CHECK(rows_of({"--by", "type"}).size() < all.size());
  CHECK(rows_of({"--with-idle"}).size() == all.size() + 1);
  const auto error_of = [&](const std::vector<std::string>& arguments) {
    const Ended ended = run_tool(arguments);
    CHECK(ended.code == 2);
    return ended.errors;
  };
  CHECK(is_error_line(error_of({"show", "ops", "--sort", "slef_us", trace}), "the columns are: rank"));
  CHECK(is_error_line(error_of({"show", "ops", "--by", "typ", trace}), "did you mean 'type'?"));
  CHECK(is_error_line(error_of({"show", "steps", "--by", "type", trace}), "it is for 'show ops'"));
}

TEST_CASE("show tree does not judge") {
  const TemporaryDirectory folder;
  const std::string slow = folder.write("slow.trace.json", slow_trace());
  const Ended text = run_tool({"show", "tree", slow});
  CHECK(text.code == 0);
  CHECK(text.output.find("  Map <--") != std::string::npos);
  const Json tree = Json::parse(run_tool({"show", "tree", slow, "--format", "json"}).output);
  CHECK(tree["pipelines"] == Json::parse(run_tool({slow, "--format", "json"}).output)["pipelines"]);
  CHECK(run_tool({"show", "tree", folder.write("none.trace.json", trace_without_tf_data())}).code == 3);
}

TEST_CASE("runs of a log directory are listed and chosen by name") {
  const TemporaryDirectory folder;
  folder.write("logs/plugins/profile/first/host.trace.json", slow_trace(), 100);
  folder.write("logs/plugins/profile/second/host.trace.json", trace_with_waits(20), 200);
  const Ended listed = run_tool({"--list-runs", folder / "logs"});
  CHECK(listed.code == 0);
  CHECK(listed.output.starts_with("second "));
  CHECK(listed.output.find("\nfirst ") != std::string::npos);
  const Json runs = Json::parse(run_tool({"--list-runs", folder / "logs", "--format", "json"}).output)["runs"];
  CHECK(runs.size() == 2);
  CHECK(run_tool({folder / "logs"}).code == 0);
  CHECK(run_tool({folder / "logs", "--run", "first"}).code == 1);
  const Ended missing = run_tool({folder / "logs", "--run", "third"});
  CHECK(missing.code == 2);
  CHECK(is_error_line(missing.errors, "third"));
}

}  // namespace
}  // namespace doctor::cli_test
