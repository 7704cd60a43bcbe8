// The configuration file: what it says, and that everything wrong in it is told with line, column and the nearest word.

#include "config/config.h"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <vector>

#include "command_line/command_line.h"
#include "temporary_directory.h"

namespace doctor::config_test {
namespace {

ConfigReading read(std::string_view toml) {
  return read_config(toml, "c.toml", config_keys(), rule_catalog());
}

/// What is wrong, as it is printed.
std::vector<std::string> errors_of(std::string_view toml) {
  std::vector<std::string> errors;
  for (const Error& error : read(toml).errors) errors.push_back(to_string(error));
  return errors;
}

struct WrongFile {
  std::string_view toml;
  std::string_view error;  ///< that one, as it is printed; of a long list of names its beginning
};

}  // namespace

TEST_CASE("a file says what is in it, with the line of each setting") {
  const ConfigReading reading = read(R"(fail-on = "error"
format = "json"
threads = 2
max-memory = 500000000
quiet = true

[thresholds.input-bound]
min_share = 0.25

[budgets]
max_input_share = 0.1
max_get_next_p95_us = 2000
rules_must_not_fire = ["slow-source", "python-function"]

[[budgets.pipeline]]
match = "device:*Shuffle*"
max_input_share = 1

[[suppress]]
rule = "slow-source"
subject = "*::TFRecord"
reason = "moves to SSD"
expires = 2026-12-31
)");
  REQUIRE(reading.errors.empty());
  const Config& config = reading.config;
  REQUIRE(config.options.size() == 5);
  std::vector<std::string> options;
  for (const ConfigOption& option : config.options) {
    options.push_back(option.key + " " + option.value + " " + option.source);
  }
  CHECK(std::find(options.begin(), options.end(), "fail-on error c.toml:1") != options.end());
  CHECK(std::find(options.begin(), options.end(), "threads 2 c.toml:3") != options.end());
  CHECK(std::find(options.begin(), options.end(), "max-memory 500000000 c.toml:4") != options.end());
  CHECK(std::find(options.begin(), options.end(), "quiet true c.toml:5") != options.end());
  REQUIRE(config.thresholds.size() == 1);
  CHECK(config.thresholds[0].rule == "input-bound");
  CHECK(config.thresholds[0].name == "min_share");
  CHECK(config.thresholds[0].value == 0.25);
  CHECK(config.thresholds[0].source == "c.toml:8");
  REQUIRE(config.budgets.size() == 5);
  std::vector<std::string> budgets;
  for (const Budget& budget : config.budgets) {
    budgets.push_back(std::string(name_of(budget.kind)) + "|" + budget.pipeline + "|" + std::to_string(budget.limit) +
                      "|" + budget.rule + "|" + budget.source);
  }
  for (const std::string_view expected :
       {"max_input_share||0.100000||c.toml:11", "max_get_next_p95_us||2000.000000||c.toml:12",
        "rules_must_not_fire||0.000000|python-function|c.toml:13",
        "max_input_share|device:*Shuffle*|1.000000||c.toml:17"}) {
    CHECK_MESSAGE(std::find(budgets.begin(), budgets.end(), expected) != budgets.end(), expected);
  }
  REQUIRE(config.suppressions.size() == 1);
  CHECK(config.suppressions[0].rule == "slow-source");
  CHECK(config.suppressions[0].subject == "*::TFRecord");
  CHECK(config.suppressions[0].reason == "moves to SSD");
  CHECK(config.suppressions[0].expires == std::chrono::year(2026) / 12 / 31);
  CHECK(config.suppressions[0].source == "c.toml:19");
}

TEST_CASE("an empty file says nothing") {
  for (const std::string_view toml : {"", "\n", "# nothing\r\n", "\xef\xbb\xbf"}) {
    const ConfigReading reading = read(toml);
    CHECK(reading.errors.empty());
    CHECK(reading.config.options.empty());
  }
}

TEST_CASE("whatever is wrong is told with its place and the nearest word") {
  const std::vector<WrongFile> files = {
      {"fail_on = \"error\"", "c.toml:1:1: unknown key 'fail_on'; did you mean 'fail-on'?"},
      {"\n  budget = 1", "c.toml:2:3: unknown key 'budget'; did you mean 'budgets'?"},
      {"zzzzzzzzzzzz = 1", "c.toml:1:1: unknown key 'zzzzzzzzzzzz'; known: thresholds, budgets, suppress, timings, "},
      {"fail-on = \"warnings\"", "c.toml:1:11: fail-on: unknown value 'warnings'; did you mean 'warning'?"},
      {"fail-on = 1", "c.toml:1:11: 'fail-on' is an integer, expected a string"},
      {"format = \"jsno\"", "c.toml:1:10: format: unknown value 'jsno'; did you mean 'json'?"},
      {"threads = \"2\"", "c.toml:1:11: 'threads' is a string, expected an integer"},
      {"threads = 0", "c.toml:1:11: threads: '0' is not a whole number from 1 to 256"},
      {"threads = -1", "c.toml:1:11: threads: '-1' is not a whole number from 1 to 256"},
      {"quiet = \"yes\"", "c.toml:1:9: 'quiet' is a string, expected true or false"},
      {"max-memory = \"12 apples\"", "c.toml:1:14: max-memory: '12 apples' is not a valid size; a size is "},
      {"min-gain = \"2\"", "c.toml:1:12: 'min-gain' is a string, expected a number"},
      {"min-gain = 0.5", "c.toml:1:12: min-gain: '0.5' is not a number from 1 to 1000"},
      {"min-gain = inf", "c.toml:1:12: min-gain: 'inf' is not a number from 1 to 1000"},
      {"max-memory = 1.5", "c.toml:1:14: 'max-memory' is a float, expected an integer or a string"},
      {"output = \"x\"", "c.toml:1:1: unknown key 'output'"},
      {"thresholds = 1", "c.toml:1:14: 'thresholds' is an integer, expected tables like [thresholds.input-bound]"},
      {"[thresholds]\ninput-bound = 1",
       "c.toml:2:15: 'input-bound' is an integer, expected a table [thresholds.input-bound]"},
      {"[thresholds.input-bond]\nmin_share = 1", "c.toml:1:13: no rule 'input-bond'; did you mean 'input-bound'?"},
      {"[thresholds.input-bound]\nmin_shar = 1",
       "c.toml:2:1: the rule input-bound has no threshold 'min_shar'; did you mean 'min_share'?"},
      {"[thresholds.input-bound]\nmin_share = \"1\"", "c.toml:2:13: 'min_share' is a string, expected a number"},
      {"[thresholds.input-bound]\nmin_share = 2", "c.toml:2:13: a share is between 0 and 1"},
      {"[thresholds.input-bound]\nmin_share = -1", "c.toml:2:13: '-1' is not a number of 0 or more"},
      {"[thresholds.input-bound]\nmin_share = nan", "c.toml:2:13: 'nan' is not a number of 0 or more"},
      {"budgets = []", "c.toml:1:11: 'budgets' is an array, expected a table [budgets]"},
      {"[budgets]\nmax_input_shar = 1",
       "c.toml:2:1: unknown key 'max_input_shar' in [budgets]; did you mean 'max_input_share'?"},
      {"[budgets]\nmax_input_share = 10", "c.toml:2:19: 'max_input_share' is 10, expected a share between 0 and 1"},
      {"[budgets]\nmax_get_next_p95_us = inf",
       "c.toml:2:23: 'max_get_next_p95_us' is inf, expected a number of microseconds from 0 up"},
      {"[budgets]\nmax_get_next_p95_us = true",
       "c.toml:2:23: 'max_get_next_p95_us' is a boolean, expected a number of microseconds from 0 up"},
      {"[budgets]\nrules_must_not_fire = \"slow-source\"",
       "c.toml:2:23: 'rules_must_not_fire' is a string, expected an array of rules, e.g. [\"slow-source\"]"},
      {"[budgets]\nrules_must_not_fire = [\"slow-sorce\"]",
       "c.toml:2:24: no rule 'slow-sorce'; did you mean 'slow-source'?"},
      {"[budgets]\nrules_must_not_fire = [1]",
       "c.toml:2:24: 'rules_must_not_fire' is an integer, expected the name of a rule"},
      {"[budgets.pipeline]\nmatch = \"*\"",
       "c.toml:1:1: 'pipeline' is a table, expected tables like [[budgets.pipeline]]"},
      {"[budgets]\npipeline = [1]", "c.toml:2:13: 'pipeline' is an integer, expected a table [[budgets.pipeline]]"},
      {"[[budgets.pipeline]]\nmax_input_share = 0.1", "c.toml:1:1: the table has no key 'match'; it takes a pattern"},
      {"[[budgets.pipeline]]\nmatch = \"\"", "c.toml:2:9: 'match' is empty"},
      {"[[budgets.pipeline]]\nmatch = 1", "c.toml:2:9: 'match' is an integer, expected a pattern for long names"},
      {"[[budgets.pipeline]]\nmatch = \"*\"\nmach = 1",
       "c.toml:3:1: unknown key 'mach' in [[budgets.pipeline]]; did you mean 'match'?"},
      {"suppress = 1", "c.toml:1:12: 'suppress' is an integer, expected tables like [[suppress]]"},
      {"suppress = [1]", "c.toml:1:13: 'suppress' is an integer, expected a table [[suppress]]"},
      {"[[suppress]]\nreason = \"x\"", "c.toml:1:1: the suppression has no key 'rule'"},
      {"[[suppress]]\nrule = \"slow-source\"", "c.toml:1:1: the suppression has no key 'reason'"},
      {"[[suppress]]\nrule = \"slow-source\"\nreason = \" \"", "c.toml:3:10: 'reason' is empty"},
      {"[[suppress]]\nrule = \"slow-sorce\"\nreason = \"x\"",
       "c.toml:2:8: no rule 'slow-sorce'; did you mean 'slow-source'?"},
      {"[[suppress]]\nrule = 1\nreason = \"x\"", "c.toml:2:8: 'rule' is an integer, expected the name of a rule"},
      {"[[suppress]]\nrule = \"slow-source\"\nreason = 1", "c.toml:3:10: 'reason' is an integer, expected a string"},
      {"[[suppress]]\nrule = \"slow-source\"\nreason = \"x\"\nsubject = 1",
       "c.toml:4:11: 'subject' is an integer, expected a pattern for long names"},
      {"[[suppress]]\nrule = \"slow-source\"\nreason = \"x\"\nexpires = \"2026-12-31\"",
       "c.toml:4:11: 'expires' is a string, expected a date without quotes, e.g. 2026-12-31"},
      {"[[suppress]]\nrule = \"slow-source\"\nreason = \"x\"\nexpire = 2026-12-31",
       "c.toml:4:1: unknown key 'expire' in [[suppress]]; did you mean 'expires'?"},
      {"fail-on = ", "c.toml:1:11: "},
      {"[\n", "c.toml:1:2: "},
      {"[[=]]", "c.toml:1:3: "},
      {"quiet = true\nquiet = false", "c.toml:2:"},
      {"expires = 2026-02-30", "c.toml:1:"},
  };
  for (const WrongFile& file : files) {
    CAPTURE(file.toml);
    const std::vector<std::string> errors = errors_of(file.toml);
    REQUIRE(errors.size() == 1);
    CHECK_MESSAGE(errors[0].starts_with(file.error), errors[0]);
  }
}

TEST_CASE("a character other than ASCII outside of a string is a fault at its place") {
  struct Document {
    std::string_view toml;
    std::string_view place;  ///< of the character; empty: all are where they may be
  };
  const std::vector<Document> documents = {
      {"qu \xef\xba\xbfz", "1:4"},
      {"a = 1 # \xc3\xa9\nb = \"\xc3\xa9\\\"\xc3\xa9\" \xc3\xa9", "2:12"},
      {"a = 'x\\' \xc3\xa9", "1:10"},
      {"a = \"\"\xc3\xa9", "1:7"},
      {"a = 202t\"\"\"\xc3\xa9\"\"\"", "1:5"},
      {"a = [[1[[['\xc3\xa9", "1:8"},
      {"# \xc3\xa9\na = \"\xc3\xa9\"\nb = '\xc3\xa9'\nc = \"\"\"\xc3\xa9\\\n x \xc3\xa9\"\"\"", ""},
  };
  for (const Document& document : documents) {
    CAPTURE(document.toml);
    const std::vector<std::string> errors = errors_of(document.toml);
    const std::string first = errors.empty() ? "" : errors.front();
    CAPTURE(first);
    const bool is_known_key = first.find("unknown") != std::string::npos;
    CHECK(first.starts_with("c.toml:" + std::string(document.place)));
    CHECK(is_known_key == document.place.empty());
  }
}

TEST_CASE("all that is wrong is told at once, in the order of the lines") {
  const std::vector<std::string> errors = errors_of(R"(threads = "many"
fail-onn = "error"
[[suppress]]
rule = "slow-sorce"
[budgets]
max_input_share = 7
[thresholds.input-bound]
min_share = true
)");
  REQUIRE(errors.size() == 6);
  const std::vector<std::string_view> places = {"c.toml:1:11", "c.toml:2:1",  "c.toml:3:1",
                                                "c.toml:4:8",  "c.toml:6:19", "c.toml:8:13"};
  for (std::size_t index = 0; index < places.size(); ++index) CHECK(errors[index].starts_with(places[index]));
}

TEST_CASE("the nearest file upward is found, but none above a repository") {
  const TemporaryDirectory folder;
  const std::string name(kConfigFileName);
  const std::string outer = folder.write(name, "");
  const std::string inner = folder.write("job/" + name, "");
  folder.write("job/code/deep/x", "");
  folder.write("other/deep/x", "");
  folder.write("repository/.git/HEAD", "");
  folder.write("repository/code/x", "");
  CHECK(find_config_file(folder / "job/code/deep") == inner);
  CHECK(find_config_file(folder / "job") == inner);
  CHECK(find_config_file(folder / "other/deep") == outer);
  CHECK_FALSE(find_config_file(folder / "repository/code"));
  const std::string at_top = folder.write("repository/" + name, "");
  CHECK(find_config_file(folder / "repository/code") == at_top);
  // A folder of that name is no file; a working directory that is gone has none.
  folder.write("job/strange/" + name + "/x", "");
  CHECK(find_config_file(folder / "job/strange") == inner);
  CHECK_FALSE(find_config_file(""));
}

TEST_CASE("a file that cannot be read, or is none, is an error") {
  const TemporaryDirectory folder;
  CHECK(to_string(read_config_file(folder / "missing").error()).find("missing: cannot be read: No such file") !=
        std::string::npos);
  CHECK(to_string(read_config_file(folder.path()).error()).find("is a directory") != std::string::npos);
  const std::string large = folder.write("large", std::string((1 << 20) + 1, '#'));
  CHECK(to_string(read_config_file(large).error()).find("too large") != std::string::npos);
  CHECK(read_config_file(folder.write("empty", "")) == "");
  CHECK(read_config_file(folder.write("some", "quiet = true")) == "quiet = true");
}

}  // namespace doctor::config_test
