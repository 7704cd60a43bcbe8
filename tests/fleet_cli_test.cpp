// The command `fleet` as users run it: exit codes, formats, standard input.

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fleet/trace_row.h"
#include "run_tool.h"
#include "temporary_directory.h"

namespace doctor::fleet_cli_test {
namespace {

std::string row_with(const std::string& verdict) {
  TraceRow row;
  row.file = {"jobs/a/trace.pb", 10, std::string(64, 'a')};
  row.verdict = verdict;
  row.error = verdict.empty() ? "is empty" : "";
  row.input_lost_us = 3.6e9;
  return render_row(row);
}

TEST_CASE("the exit code says whether anything could be ranked") {
  const TemporaryDirectory directory;
  const std::string good = directory.write("good.ndjson", row_with("input_bound"));
  const std::string bad = directory.write("bad.ndjson", row_with(""));
  const std::string words = directory.write("words.ndjson", "no row\n");
  struct Case {
    std::vector<std::string> arguments;
    int code;
  };
  for (const Case& one : std::vector<Case>{{{"fleet", good}, 0},
                                           {{"fleet", good, words}, 0},
                                           {{"fleet", bad}, 3},
                                           {{"fleet", words}, 3},
                                           {{"fleet"}, 2},
                                           {{"fleet", directory / "missing"}, 2},
                                           {{"fleet", good, directory / "missing"}, 2},
                                           {{"fleet", directory.path()}, 2},
                                           {{"fleet", good, "-o", good}, 2},
                                           {{"fleet", good, "--format", "sarif"}, 2}}) {
    const Ended ended = run_tool(one.arguments);
    CAPTURE(ended.errors);
    CHECK(ended.code == one.code);
    CHECK(ended.errors.empty() == (one.code != 2));
  }
}

TEST_CASE("every format has the numbers of the rows") {
  Tool tool;
  tool.input = row_with("input_bound") + row_with("input_bound") + "cut off {";
  const auto print = [&](const std::vector<std::string>& options) {
    std::vector<std::string> arguments = {"fleet", "-"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Ended ended = tool.run(arguments);
    CHECK(ended.code == 0);
    return ended.output;
  };
  for (const bool pipes_input : {false, true}) {
    tool.pipes_input = pipes_input;
    CHECK(print({"--color", "never"}).starts_with("1 trace: 1 h of 0 us recorded lost to input, in 1 job\n"));
    CHECK(print({"-q"}) == "1 trace: 1 h of 0 us recorded lost to input, in 1 job\n");
    CHECK(print({"--format", "csv"}) ==
          "by,dataset,kind,limiting_resource,rule,lost_hours,share,traces,jobs,predicted_traces,saved_hours,"
          "saved_low_hours,example,source\n"
          "culprit,no culprit,,,,1,1,1,1,0,,,jobs/a/trace.pb,\n");
    const auto page = nlohmann::json::parse(print({"--format", "json"}));
    CHECK(page["schema"] == "tfdata-doctor.fleet/2");
    CHECK(page["rows"]["counted"] == 1);
    CHECK(page["rows"]["repeated"] == 1);
    CHECK(page["rows"]["not_rows"] == 1);
    CHECK(print({"--format", "markdown"}).starts_with("### tfdata-doctor fleet: 1 trace\n"));
  }
}

TEST_CASE("--group-by ranks groups in every format, and the environment can ask for it") {
  Tool tool;
  tool.input = row_with("input_bound");
  const auto print = [&](const std::string& format) {
    return tool.run({"fleet", "-", "--group-by", "path:jobs/([a-z]+)", "--format", format}).output;
  };
  CHECK(print("text").find("Groups by path:jobs/([a-z]+)") != std::string::npos);
  CHECK(print("markdown").find("#### Groups by ") != std::string::npos);
  CHECK(print("csv").ends_with("group,,,,,1,1,1,1,0,,,jobs/a/trace.pb,,a\n"));
  CHECK(print("html").find("By path:jobs/([a-z]+)") != std::string::npos);
  const auto page = nlohmann::json::parse(print("json"));
  CHECK(page["grouped_by"] == "path:jobs/([a-z]+)");
  CHECK(page["groups"][0]["group"] == "a");
  const auto without = nlohmann::json::parse(tool.run({"fleet", "-", "--format", "json"}).output);
  CHECK(without["grouped_by"].is_null());
  CHECK(without["groups"].empty());
  for (const std::string wrong : {"path:(", "team"}) {
    const Ended ended = tool.run({"fleet", "-", "--group-by", wrong});
    CHECK(ended.code == 2);
    CHECK(ended.errors.find("--group-by") != std::string::npos);
  }
}

/// A job whose waits the rule sequential-map has an answer to.
TraceRow row_with_a_fix(double window_us, double input_lost_us) {
  TraceRow row;
  row.file = {"jobs/a/trace.pb", 10, std::string(64, 'a')};
  row.verdict = "input_bound";
  row.window_us = window_us;
  row.input_lost_us = input_lost_us;
  row.findings = {{"sequential-map", "warning", ""}};
  row.best_fix = "sequential-map";
  return row;
}

TEST_CASE("--price says what is saved in money, in every format") {
  TraceRow row = row_with_a_fix(2 * 3.6e9, 3.6e9);
  row.best_gain = 2;
  row.best_gain_low = 1.6;
  Tool tool;
  tool.input = render_row(row);
  const auto print = [&](const std::string& format) {
    return tool.run({"fleet", "-", "--price", "2.48", "--format", format}).output;
  };
  CHECK(print("text").find("Money     2.48 saved, 1.86 at the low end, at 2.48 an hour") != std::string::npos);
  CHECK(print("markdown").find("Money: 2.48 saved, 1.86 at the low end, at 2.48 an hour") != std::string::npos);
  CHECK(print("csv").find(
            ",jobs,predicted_traces,saved_hours,saved_low_hours,saved_money,saved_low_money,example,source\n") !=
        std::string::npos);
  CHECK(print("csv").find("rule,,,,sequential-map,1,1,1,1,1,1,0.75,2.48,1.8") != std::string::npos);
  const auto page = nlohmann::json::parse(print("json"));
  CHECK(page["price_per_hour"] == 2.48);
  CHECK(page["predicted_traces"] == 1);
  CHECK(page["saved_hours"] == 1);
  CHECK(page["saved_low_hours"] == 0.75);
  CHECK(page["saved_money"] == 2.48);
  CHECK(page["culprits"][0]["saved_money"] == 2.48);
  CHECK(page["rules"][0]["saved_hours"] == 1);
  for (const std::string format : {"text", "markdown", "csv", "json"}) {
    const std::string without = tool.run({"fleet", "-", "--format", format}).output;
    CHECK(without.find("price") == std::string::npos);
    CHECK(without.find("oney") == std::string::npos);
  }
  for (const std::string wrong : {"0", "-1", "free", "nan", "inf", "1e3", "2.48 EUR", "10000000000000"}) {
    const Ended ended = tool.run({"fleet", "-", "--price=" + wrong});
    CAPTURE(wrong);
    CHECK(ended.code == 2);
    CHECK(ended.errors == "tfdata-doctor: --price: '" + wrong + "' is not a number above 0\n");
  }
}

TEST_CASE("a person reads what is lost in the unit that fits, a program in hours") {
  TraceRow row = row_with_a_fix(100e6, 36e6);
  row.best_gain = 1.25;
  row.best_gain_low = 1.25;
  Tool tool;
  tool.input = render_row(row);
  const auto print = [&](const std::string& format) { return tool.run({"fleet", "-", "--format", format}).output; };
  CHECK(print("text").find("no culprit  -     -           36.0 s   100%") != std::string::npos);
  CHECK(print("markdown").find("| 36.0 s | 100% | 1 | 1 | 1 | 20.0 s | 20.0 s |") != std::string::npos);
  CHECK(print("csv").find("culprit,no culprit,,,,0.01,1,1,1,1,0.00555555556,") != std::string::npos);
  CHECK(nlohmann::json::parse(print("json"))["culprits"][0]["lost_hours"] == 0.01);
  row.input_lost_us = 2 * 3.6e9;
  tool.input = render_row(row);
  CHECK(print("markdown").find("| 2 h | 100% |") != std::string::npos);
}

TEST_CASE("--top cuts every ranking") {
  TraceRow row;
  row.file = {"a.pb", 1, std::string(64, 'a')};
  row.verdict = "input_bound";
  row.culprit_kind = "source";
  row.culprit_dataset = "TFRecord";
  TraceRow other = row;
  other.file.sha256 = std::string(64, 'b');
  other.culprit_dataset = "CSV";
  Tool tool;
  tool.input = render_row(row) + render_row(other);
  const std::string page = tool.run({"fleet", "-", "--top", "1"}).output;
  CHECK(page.find("... and 1 more row (--top 0 shows all)") != std::string::npos);
  CHECK(page.find("TFRecord") == std::string::npos);
  CHECK(tool.run({"fleet", "-", "--top", "0"}).output.find("TFRecord") != std::string::npos);
}

}  // namespace

}  // namespace doctor::fleet_cli_test
