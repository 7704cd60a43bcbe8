// Which of command line, environment, configuration file and defaults counts, and what is said where they are wrong.

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "built_paths.h"
#include "command_line/command_line.h"
#include "command_line/command_table.h"
#include "command_line/help_pages.h"
#include "command_line/option_table.h"
#include "documents.h"
#include "job_settings.h"
#include "report/page.h"
#include "run_tool.h"
#include "temporary_directory.h"

namespace doctor::settings_test {
namespace {

/// "value from source" of a setting in force; empty if it is not listed.
std::string in_force(const Request& request, std::string_view key) {
  for (const SettingInForce& setting : settings_in_force(request)) {
    if (setting.key != key) continue;
    struct Text {
      std::string operator()(std::monostate) const { return "nothing"; }
      std::string operator()(bool value) const { return value ? "true" : "false"; }
      std::string operator()(double value) const { return std::to_string(value); }
      std::string operator()(const std::string& value) const { return value; }
    };
    return std::visit(Text(), setting.value) + " from " + setting.source;
  }
  return {};
}

TEST_CASE("the command line counts more than the environment, that more than the file, that more than defaults") {
  const Variables variables = {{"TFDATA_DOCTOR_FAIL_ON", "note"}, {"TFDATA_DOCTOR_COLOR", ""}};
  const Job none("");
  const Job file("fail-on = \"error\"\ncolor = \"always\"\n");
  const Job both("fail-on = \"error\"\ncolor = \"always\"\n", variables);
  CHECK(none.fail_on({"x.pb"}) == Severity::warning);
  CHECK(file.fail_on({"x.pb"}) == Severity::error);
  CHECK(both.fail_on({"x.pb"}) == Severity::note);
  CHECK(both.fail_on({"x.pb", "--fail-on", "never"}) == std::nullopt);
  // An empty variable is none.
  CHECK(both.output({"x.pb"}).color == ColorChoice::always);
  CHECK(in_force(none.request({"config", "show"}), "fail-on") == "warning from default");
  CHECK(in_force(file.request({"config", "show"}), "fail-on") == "error from " + file.file() + ":1");
  CHECK(in_force(both.request({"config", "show"}), "fail-on") == "note from environment TFDATA_DOCTOR_FAIL_ON");
  CHECK(in_force(both.request({"config", "show", "--fail-on", "never"}), "fail-on") == "never from --fail-on");
  CHECK(in_force(none.request({"config", "show"}), "max-memory") == "nothing from default");
  CHECK(in_force(none.request({"config", "show"}), "quiet") == "false from default");
}

TEST_CASE("a flag of the file can be taken back") {
  const Job job("quiet = true\nverbose = true\n", {{"TFDATA_DOCTOR_VERBOSE", "0"}});
  CHECK(job.output({"x.pb"}).quiet);
  CHECK_FALSE(job.output({"x.pb", "--quiet=false"}).quiet);
  CHECK_FALSE(job.output({"x.pb"}).verbose);
  CHECK(job.output({"x.pb", "-v"}).verbose);
}

TEST_CASE("thresholds, budgets and suppressions add up, and of several about the same the nearest counts") {
  const Job job(
      "[thresholds.input-bound]\nmin_share = 0.3\nmin_confidence = 0.4\n[budgets]\nmax_input_share = 0.1\n"
      "rules_must_not_fire = [\"slow-source\"]\n[[suppress]]\nrule = \"low-parallelism\"\nreason = \"known\"\n",
      {{"TFDATA_DOCTOR_SET", "input-bound.min_share=0.4"},
       {"TFDATA_DOCTOR_FORBID_RULE", "python-function,device:*=cpu-saturated"},
       {"TFDATA_DOCTOR_SUPPRESS", "slow-source:*::TFRecord"}});
  const Request request = job.request({"config", "show", "--set", "input-bound.min_share=0.5", "--max-input-share",
                                       "0.2", "--max-input-share", "*a=b*=0.3", "--max-get-next-p95", "5e3"});
  CHECK(in_force(request, "thresholds.input-bound.min_share") == "0.500000 from --set");
  CHECK(in_force(request, "thresholds.input-bound.min_confidence") == "0.400000 from " + job.file() + ":3");
  CHECK(in_force(request, "budgets.max_input_share") == "0.200000 from --max-input-share");
  CHECK(in_force(request, "budgets.pipeline '*a=b*' max_input_share") == "0.300000 from --max-input-share");
  CHECK(in_force(request, "budgets.max_get_next_p95_us") == "5000.000000 from --max-get-next-p95");
  CHECK(in_force(request, "budgets.rules_must_not_fire") == "slow-source from " + job.file() + ":6");
  CHECK(in_force(request, "budgets.pipeline 'device:*' rules_must_not_fire") ==
        "cpu-saturated from environment TFDATA_DOCTOR_FORBID_RULE");
  CHECK(in_force(request, "suppress") == "low-parallelism, known from " + job.file() + ":7");
  REQUIRE(request.suppressions.size() == 2);
  CHECK(request.suppressions[1].subject == "*::TFRecord");
  CHECK(request.today == std::chrono::year(2026) / 6 / 1);
}

TEST_CASE("--min-gain is the threshold of the rule input-bound, wherever it is set") {
  const auto threshold = [](const Request& request) -> std::optional<double> {
    const ThresholdSettings settings = in_force(request.thresholds);
    const auto rule = settings.find("input-bound");
    return rule == settings.end() ? std::nullopt : std::optional(rule->second.at("min_gain"));
  };
  CHECK(threshold(Job("").request({"x.pb"})) == std::nullopt);
  CHECK(threshold(Job("").request({"x.pb", "--min-gain", "1.5"})) == 1.5);
  CHECK(threshold(Job("").request({"x.pb", "--set", "input-bound.min_gain=2"})) == 2);
  const Job job("min-gain = 2\n", {{"TFDATA_DOCTOR_MIN_GAIN", "1.25"}});
  CHECK(threshold(job.request({"x.pb"})) == 1.25);
  CHECK(threshold(job.request({"x.pb", "--min-gain", "1.5"})) == 1.5);
  CHECK(job.request({"whatif", "x.pb"}).text("min-gain") == "1.25");
  // What reads the file judges by it, whether it has the option or not.
  CHECK(threshold(Job("min-gain = 1.5\n").request({"batch", "x.pb"})) == 1.5);
  CHECK(in_force(Job("").request({"config", "show"}), "min-gain") == "1.030000 from default");
  CHECK(in_force(job.request({"config", "show"}), "min-gain") == "1.250000 from environment TFDATA_DOCTOR_MIN_GAIN");
  CHECK(in_force(job.request({"config", "show", "--set", "input-bound.min_gain=3"}), "min-gain") ==
        "3.000000 from --set");
  CHECK(job.error({"x.pb", "--min-gain", "0.99"}) == "--min-gain: '0.99' is not a number from 1 to 1000");
  CHECK(job.error({"x.pb", "--min-gain", "much"}) == "--min-gain: 'much' is not a number from 1 to 1000");
  CHECK(Job("", {{"TFDATA_DOCTOR_MIN_GAIN", "0"}}).error({"x.pb"}) ==
        "environment TFDATA_DOCTOR_MIN_GAIN: '0' is not a number from 1 to 1000");
}

TEST_CASE("a wrong value names the place where it stands") {
  const auto error_of = [](const Variables& variables, const std::vector<std::string>& arguments) {
    return Job("", variables).error(arguments);
  };
  CHECK(error_of({{"TFDATA_DOCTOR_FAIL_ON", "warnings"}}, {"x.pb"}) ==
        "environment TFDATA_DOCTOR_FAIL_ON: unknown value 'warnings'; did you mean 'warning'?");
  CHECK(error_of({{"TFDATA_DOCTOR_THREADS", "0"}}, {"x.pb"}) ==
        "environment TFDATA_DOCTOR_THREADS: '0' is not a whole number from 1 to 256");
  CHECK(error_of({{"TFDATA_DOCTOR_QUIET", "yes"}}, {"x.pb"}) ==
        "environment TFDATA_DOCTOR_QUIET: 'yes' is neither true nor false");
  CHECK(error_of({{"TFDATA_DOCTOR_SET", "input-bond.min_share=1"}}, {"x.pb"}) ==
        "environment TFDATA_DOCTOR_SET input-bond.min_share=1: no rule 'input-bond'; did you mean 'input-bound'?");
  CHECK(error_of({}, {"x.pb", "--max-input-share", "10"}) ==
        "--max-input-share: '10' is not a share; 0 to 1, or 0% to 100%");
  CHECK(error_of({}, {"x.pb", "--max-input-share", "*=x%"}) ==
        "--max-input-share: 'x%' is not a share; 0 to 1, or 0% to 100%");
  CHECK(error_of({}, {"x.pb", "--max-input-share", "=0.1"}) == "--max-input-share: the pattern before '=' is empty");
  CHECK(error_of({}, {"x.pb", "--max-get-next-p95=-1"}) ==
        "--max-get-next-p95: '-1' is not a number of microseconds from 0 up");
  CHECK(error_of({}, {"x.pb", "--forbid-rule", "slow-sorce"}) ==
        "--forbid-rule: no rule 'slow-sorce'; did you mean 'slow-source'?");
  CHECK(error_of({}, {"x.pb", "--suppress", "slow-sorce:*"}) ==
        "--suppress: no rule 'slow-sorce'; did you mean 'slow-source'?");
  CHECK(error_of({{"TFDATA_DOCTOR_CONFIG", "/missing/c.toml"}}, {"x.pb"}).starts_with("/missing/c.toml: cannot be"));
  // What another command alone could not take is no matter of this one.
  CHECK(Job("", {{"TFDATA_DOCTOR_FAIL_ON", "warnings"}}).parse({"show", "tree", "x.pb"}).has_value());
  const auto all = Job("threads = 0\nfail-onn = 1\n").parse({"show", "tree", "x.pb"});
  REQUIRE_FALSE(all.has_value());
  CHECK(all.error().size() == 2);
}

TEST_CASE("the file is the nearest, the one named, or none") {
  const Job job("fail-on = \"error\"\n", {});
  const std::string other = job.folder().write("other.toml", "fail-on = \"note\"\n");
  CHECK(job.fail_on({"x.pb"}) == Severity::error);
  CHECK(job.fail_on({"x.pb", "--config", other}) == Severity::note);
  CHECK(job.fail_on({"x.pb", "--no-config"}) == Severity::warning);
  CHECK(job.request({"config", "show"}).config_file == job.file());
  CHECK_FALSE(job.request({"config", "show", "--no-config"}).config_file);
  const Job with_variable("fail-on = \"error\"\n", {{"TFDATA_DOCTOR_NO_CONFIG", "1"}});
  CHECK(with_variable.fail_on({"x.pb"}) == Severity::warning);
  // The command line is nearer than the variable.
  CHECK(with_variable.fail_on({"x.pb", "--config", with_variable.file()}) == Severity::error);
  // What reads no settings is not kept from its work by a broken file.
  const Job broken("fail-on = ");
  CHECK(broken.parse({"completions", "bash"}).has_value());
  CHECK(broken.parse({"--help"}).has_value());
  CHECK_FALSE(broken.parse({"x.pb"}).has_value());
  CHECK(broken.parse({"x.pb", "--no-config"}).has_value());
}

TEST_CASE("fleet takes settings as other commands do") {
  const Job job("group-by = \"host\"\n", {});
  CHECK(job.request({"fleet", "rows.ndjson"}).text("group-by") == "host");
  CHECK(job.request({"fleet", "rows.ndjson", "--group-by", "line"}).text("group-by") == "line");
  CHECK(job.request({"fleet", "rows.ndjson", "--no-config"}).text("group-by").empty());
  const Job with_variable("group-by = \"host\"\n", {{"TFDATA_DOCTOR_GROUP_BY", "job"}});
  CHECK(with_variable.request({"fleet", "rows.ndjson"}).text("group-by") == "job");
}

TEST_CASE("a format that a command does not have is left to those that have it") {
  const Job job("format = \"csv\"\n");
  CHECK(job.output({"show", "calls", "x.pb"}).format() == OutputFormat::csv);
  CHECK(job.output({"show", "tree", "x.pb"}).format() == OutputFormat::text);
  CHECK(job.output({"x.pb"}).format() == OutputFormat::text);
  CHECK_FALSE(job.request({"convert", "x.pb"}).given("format"));
  CHECK(in_force(job.request({"config", "show"}), "format") == "csv from " + job.file() + ":1");
  CHECK(job.output({"x.pb", "--list-runs"}).format() == OutputFormat::text);
  CHECK_FALSE(output_options(job.request({"x.pb", "--format", "csv"})));
}

TEST_CASE("what completion offers as a format is taken, and a setting of another format is ignored") {
  std::vector<std::vector<std::string>> commands;
  for (const CommandEntry& command : command_table()) {
    const OptionEntry* const format = find_option(command.command, "format");
    const bool is_plain = command.command != Command::show && command.command != Command::convert;
    if (format != nullptr && is_plain) commands.push_back({std::string(command.name)});
  }
  for (const std::string_view page : page_names()) commands.push_back({"show", std::string(page)});
  commands.push_back({"diagnose", "--list-runs"});
  for (const std::vector<std::string>& words : commands) {
    CAPTURE(words.front());
    CAPTURE(words.back());
    std::vector<std::string> line = words;
    line.insert(line.end(), {"--format", ""});
    std::istringstream offered(completions_of(line));
    std::vector<std::string> formats;
    for (std::string word; std::getline(offered, word);) formats.push_back(word);
    CHECK(formats.size() >= 2);
    for (const std::string_view format :
         {"text", "json", "csv", "sarif", "junit", "gitlab", "github", "markdown", "prometheus", "html"}) {
      CAPTURE(format);
      const bool is_offered = std::find(formats.begin(), formats.end(), format) != formats.end();
      line.back() = format;
      const Job plain("");
      CHECK(output_options(plain.request(line)).has_value() == is_offered);
      // Of some no configuration file is read, and config shows the settings of all commands.
      if (words.front() == "config") continue;
      if (find_option(find_command(words.front())->command, "config") == nullptr) continue;
      const Job set("format = \"" + std::string(format) + "\"\n");
      CHECK(to_word(set.output(words).format()) == (is_offered ? format : "text"));
    }
  }
}

TEST_CASE("each format of a command or a page is a document of its own: none is offered that nothing renders") {
  const std::string data = source_dir() + "/testdata/";
  const std::string trace = data + "traces/guide_naive.xplane.pb";
  const std::string baseline = data + "baselines/2026-11-25.json";
  std::vector<std::vector<std::string>> commands = {{"diagnose", trace},
                                                    {"whatif", trace},
                                                    {"checklist", trace},
                                                    {"query", "select 1 as one, 2 as two", trace},
                                                    {"explain", "slow-source"},
                                                    {"explain", "slow-source", trace},
                                                    {"rules"},
                                                    {"config", "show"},
                                                    {"baseline", "show", baseline},
                                                    {"baseline", "log", baseline},
                                                    {"fleet", data + "fleet/january.ndjson"},
                                                    {"compare", trace, "--", data + "traces/guide_prefetch.xplane.pb"}};
  for (const std::string_view page : page_names()) commands.push_back({"show", std::string(page), trace});
  for (const std::vector<std::string>& words : commands) {
    CAPTURE(words.front());
    CAPTURE(words.back());
    std::map<std::string, std::string> format_of_document;
    for (const OutputFormat format : formats_of(Job("").request(words))) {
      std::vector<std::string> line = words;
      const std::string word(to_word(format));
      line.insert(line.begin() + 1, {"--format", word});
      CAPTURE(word);
      const Ended ended = run_tool(line);
      CHECK(ended.errors.empty());
      CHECK_FALSE(ended.output.empty());
      const auto added = format_of_document.emplace(ended.output, word);
      CAPTURE(added.first->second);
      CHECK(added.second);
    }
    CHECK(format_of_document.size() >= 2);
  }
}

}  // namespace
}  // namespace doctor::settings_test
