// The program from outside: what it prints where, and how it ends.

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "built_paths.h"
#include "io/file_descriptor.h"
#include "pseudo_terminal.h"
#include "run_tool.h"
#include "synthetic_trace.h"
#include "waiting_trace.h"

namespace doctor::cli_test {
namespace {

TEST_CASE("the exit code tells findings, a clean run and nothing to judge apart") {
  const TemporaryDirectory folder;
  const std::string slow = folder.write("slow.trace.json", slow_trace());
  const std::string fast = folder.write("fast.trace.json", trace_with_waits(20));
  const std::string none = folder.write("none.trace.json", trace_without_tf_data());

  const Ended found = run_tool({slow});
  CHECK(found.code == 1);
  CHECK(found.output.starts_with("INPUT-BOUND: "));
  CHECK(found.errors.empty());
  const Ended clean = run_tool({"diagnose", fast});
  CHECK(clean.code == 0);
  CHECK(clean.output.starts_with("PROBABLY NOT INPUT-BOUND: "));
  const Ended nothing = run_tool({none});
  CHECK(nothing.code == 3);
  CHECK(nothing.output.starts_with("NO INPUT PIPELINE: "));
  // A finding there is does not turn "nothing to judge" into a judgement, whatever --fail-on says.
  CHECK(run_tool({none, "--fail-on", "note"}).code == 3);
  CHECK(run_tool({none, "--fail-on", "never"}).code == 3);
}

TEST_CASE("--fail-on chooses the severity that fails") {
  const TemporaryDirectory folder;
  const std::string slow = folder.write("slow.trace.json", slow_trace());
  CHECK(run_tool({slow, "--fail-on", "note"}).code == 1);
  CHECK(run_tool({slow, "--fail-on=warning"}).code == 1);
  CHECK(run_tool({slow, "--fail-on", "never"}).code == 0);
  const Ended wrong = run_tool({slow, "--fail-on", "warnings"});
  CHECK(wrong.code == 2);
  CHECK(is_error_line(wrong.errors, "did you mean 'warning'?"));
}

TEST_CASE("the command may be left out, and options may stand before the trace") {
  const TemporaryDirectory folder;
  const std::string slow = folder.write("slow.trace.json", slow_trace());
  const std::string expected = run_tool({"diagnose", "--format", "json", slow}).output;
  CHECK(Json::parse(expected)["verdict"]["status"] == "input_bound");
  CHECK(run_tool({"--format", "json", slow}).output == expected);
  CHECK(run_tool({slow, "--format=json"}).output == expected);
  CHECK(run_tool({"--format", "json", "diagnose", slow}).output == expected);
  CHECK(run_tool({"--format", "json", "--", slow}).output == expected);
  CHECK(run_tool({"--format", "json", "show", "tree", slow}).output.find("tfdata-doctor.tree/2") != std::string::npos);
}

TEST_CASE("standard input is a trace like any other") {
  const TemporaryDirectory folder;
  Tool tool;
  tool.input = slow_trace();
  CHECK(tool.run({"-"}).code == 1);
  tool.input = gzipped(slow_trace());
  tool.pipes_input = true;
  const Ended ended = tool.run({"--format", "json", "-"});
  CHECK(ended.code == 1);
  CHECK(Json::parse(ended.output)["trace"]["files"][0]["format"] == "chrome_json");
}

TEST_CASE("XSpace and JSON of one run give the same culprit") {
  SyntheticTrace trace;
  for (int step = 0; step < 12; ++step) {
    trace.iterator("main", "Iterator::Root", 1, 0, 10'000.0 * step, 9'000);
    trace.iterator("main", "Iterator::Root::Map", 2, 1, 10'000.0 * step + 1, 8'990);
  }
  const TemporaryDirectory folder;
  const auto culprit = [](const std::string& path) {
    return Json::parse(run_tool({path, "--format", "json"}).output)["verdict"]["culprit"]["long_name"];
  };
  CHECK(culprit(folder.write("a.xplane.pb", trace.to_xspace())) == "Iterator::Root::Map");
  CHECK(culprit(folder.write("a.trace.json", trace.to_chrome_json())) == "Iterator::Root::Map");
}

TEST_CASE("input that cannot be read ends with 2 and one line that says what and where") {
  const TemporaryDirectory folder;
  const std::string packed = gzipped(slow_trace());
  const auto error_of = [](const std::string& path) {
    const Ended ended = run_tool({path});
    CHECK(ended.code == 2);
    CHECK(ended.output.empty());
    CHECK(ended.errors.find('\x1b') == std::string::npos);
    return ended.errors;
  };
  CHECK(is_error_line(error_of(folder / "missing.pb"), "missing.pb"));
  CHECK(is_error_line(error_of(folder / "\x1b[31m\nx.pb"), "\\x1b[31m\\x0ax.pb"));
  CHECK(is_error_line(error_of(folder.write("empty.pb", "")), "empty"));
  CHECK(is_error_line(error_of(folder.write("text.pb", "hello\nworld\n")), "not a trace"));
  for (const char* const script : {"import tensorflow as tf\n", "\"\"\"Trains.\"\"\"\nimport tensorflow as tf\n"}) {
    CHECK(is_error_line(error_of(folder.write("train.py", script)),
                        "is a program, not a trace; record it with python -m tfdata_doctor"));
  }
  CHECK(is_error_line(error_of(folder.write("head.gz", packed.substr(0, 12))), "head.gz"));
  std::filesystem::create_directory(folder / "nothing");
  CHECK(is_error_line(error_of(folder / "nothing"), "holds no trace files"));
}

TEST_CASE("what is left of a truncated file is judged, and the loss is told") {
  const TemporaryDirectory folder;
  const std::string packed = gzipped(slow_trace());
  const std::string cut = folder.write("cut.trace.json.gz", packed.substr(0, packed.size() * 3 / 4));
  const Ended ended = run_tool({cut, "--format", "json"});
  CHECK(ended.code != 0);
  const Json trace = Json::parse(ended.output)["trace"];
  CHECK(trace["loss"]["complete"] == false);
  CHECK(trace["iterator_events"].get<int>() > 0);
}

TEST_CASE("a file that cannot be read does not stop the others") {
  const TemporaryDirectory folder;
  const std::string slow = folder.write("slow.trace.json", slow_trace());
  const std::string empty = folder.write("empty.trace.json", "");
  const Ended ended = run_tool({"--format", "json", empty, slow});
  CHECK(ended.code == 1);
  CHECK(is_error_line(ended.errors, "empty.trace.json: the file is empty"));
  const Json page = Json::parse(ended.output);
  CHECK(page["trace"]["loss"]["files_unreadable"] == 1);
  CHECK(page["verdict"]["status"] == "input_bound");
  CHECK(page["pipelines"][0]["id"].get<std::string>().starts_with("1:"));
  CHECK(run_tool({"-q", empty, slow}).errors.empty());

  const Ended none = run_tool({empty, folder / "missing"});
  CHECK(none.code == 2);
  CHECK(none.output.empty());
  // A healthy half is no healthy run: what is missing may be the slow one.
  const std::string other = folder.write("other.trace.json", trace_without_tf_data());
  CHECK(Json::parse(run_tool({"--format", "json", empty, other}).output)["verdict"]["status"] == "inconclusive");
}

TEST_CASE("wrong usage ends with 2 and the nearest word") {
  const auto error_of = [](const std::vector<std::string>& arguments) {
    const Ended ended = run_tool(arguments);
    CHECK(ended.code == 2);
    CHECK(ended.output.empty());
    return ended.errors;
  };
  CHECK(is_error_line(error_of({}), "no trace given"));
  CHECK(is_error_line(error_of({"explian", "x"}), "did you mean 'explain'?"));
  CHECK(is_error_line(error_of({"--fromat", "json", "x"}), "did you mean '--format'?"));
  CHECK(is_error_line(error_of({"x.pb", "--format", "jsno"}), "did you mean 'json'?"));
  CHECK(is_error_line(error_of({"show", "x.pb", "x.pb"}), "known: pace, overview, input, "));
  CHECK(is_error_line(error_of({"show"}), "known: pace, overview, input, "));
  CHECK(is_error_line(error_of({"show", "autotnue", "x.pb"}), "did you mean 'autotune'?"));
  CHECK(is_error_line(error_of({"show", "clals", "x.pb"}), "did you mean 'calls'?"));
  CHECK(is_error_line(error_of({"explain"}), "needs the name of a rule"));
  CHECK(is_error_line(error_of({"explain", "sequential-mpa"}), "did you mean 'sequential-map'?"));
  CHECK(is_error_line(error_of({"diagnose", "explain"}), "explain: no such file"));
  CHECK(is_error_line(error_of({"--", "explain"}), "explain: no such file"));
  CHECK(is_error_line(error_of({"rules", "x"}), "unexpected argument 'x'"));
  CHECK(is_error_line(error_of({"x.pb", "--format"}), "--format"));
  CHECK(is_error_line(error_of({"x.pb", "--\x1b[31m"}), "\\x1b[31m"));
}

TEST_CASE("thresholds can be set, and a slip in one is an error") {
  const TemporaryDirectory folder;
  const std::string slow = folder.write("slow.trace.json", slow_trace());
  const auto status = [&](const std::vector<std::string>& settings) {
    std::vector<std::string> arguments = {"--format", "json"};
    for (const std::string& setting : settings) arguments.insert(arguments.end(), {"--set", setting});
    arguments.push_back(slow);
    return Json::parse(run_tool(arguments).output)["verdict"]["status"];
  };
  CHECK(status({"input-bound.min_share=0.5"}) == "input_bound");
  CHECK(status({"input-bound.min_share=0.95"}) == "healthy");
  CHECK(status({"input-bound.min_share=0.95", "input-bound.min_share=0.5"}) == "input_bound");

  const auto error_of = [&](const std::string& setting) {
    const Ended ended = run_tool({slow, "--set", setting});
    CHECK(ended.code == 2);
    return ended.errors;
  };
  CHECK(is_error_line(error_of("input-bond.min_share=0.5"), "did you mean 'input-bound'?"));
  CHECK(is_error_line(error_of("input-bound.min_shar=0.5"), "did you mean 'min_share'?"));
  CHECK(is_error_line(error_of("input-bound.min_share=20%"), "'20%' is not a number"));
  CHECK(is_error_line(error_of("input-bound.min_share=nan"), "'nan' is not a number"));
  CHECK(is_error_line(error_of("input-bound.min_share=-1"), "'-1' is not a number"));
  CHECK(is_error_line(error_of("input-bound.min_share=20"), "between 0 and 1"));
  CHECK(is_error_line(error_of("input-bound.min_share="), "'' is not a number"));
  CHECK(is_error_line(error_of("min_share=1"), "expected rule.threshold=value"));
  const Ended explained = run_tool({"explain", "input-bound", "--set", "input-bound.min_share=0.3"});
  CHECK(explained.code == 0);
  CHECK(explained.output.find("min_share = 30% (default 20%)") != std::string::npos);
}

TEST_CASE("--min-gain leaves out advice that gains less") {
  const std::string trace = source_dir() + "/testdata/traces/sequential_map_tf2.4.trace.json.gz";
  const std::string all = run_tool({trace}).output;
  const std::string none = run_tool({trace, "--min-gain", "1000"}).output;
  CHECK(run_tool({trace, "--min-gain", "1.03"}).output == all);
  CHECK(none != all);
  CHECK(run_tool({trace, "--set", "input-bound.min_gain=1000"}).output == none);
  for (const std::string wrong : {"0.99", "0", "-2", "1001", "nan"}) {
    const Ended ended = run_tool({trace, "--min-gain=" + wrong});
    CHECK(ended.code == 2);
    CHECK(is_error_line(ended.errors, "--min-gain: '" + wrong + "' is not a number from 1 to 1000"));
  }
}

TEST_CASE("help and version go to standard output") {
  const Ended help = run_tool({"--help"});
  CHECK(help.code == 0);
  CHECK(std::count(help.output.begin(), help.output.end(), '\n') <= 24);
  for (const std::string command : {"diagnose", "show", "whatif", "compare", "batch"}) {
    CHECK_MESSAGE(help.output.find(" " + command + " ") != std::string::npos, command);
  }
  const Ended all = run_tool({"help", "all"});
  CHECK(all.code == 0);
  for (const std::string usage :
       {"[diagnose] [OPTIONS] TRACE...", "batch [OPTIONS] TRACE...", "fleet [OPTIONS] RESULTS...",
        "query SQL [OPTIONS] TRACE...", "schema DOCUMENT|--for ENGINE", "man [OPTIONS]"}) {
    CHECK_MESSAGE(all.output.find("  tfdata-doctor " + usage) != std::string::npos, usage);
  }
  CHECK(all.output.find("complete WORD") == std::string::npos);
  const std::string diagnose = run_tool({"diagnose", "--help"}).output;
  for (const std::string part : {"Usage:\n  tfdata-doctor [diagnose] [OPTIONS]", "--fail-on SEVERITY", "--threads N",
                                 "--max-memory SIZE", "Exit status:\n  0   analysed"}) {
    CHECK(diagnose.find(part) != std::string::npos);
  }
  CHECK(run_tool({"explain", "--help"}).output.find("--set") != std::string::npos);
  CHECK(run_tool({"--version"}).output == "tfdata-doctor " DOCTOR_VERSION "\n");
  CHECK(run_tool({"-V"}).output == run_tool({"--version"}).output);
  CHECK(run_tool({"help"}).output == help.output);
  CHECK(run_tool({"help", "compare"}).output == run_tool({"compare", "--help"}).output);
  CHECK(is_error_line(run_tool({"help", "comprae"}).errors, "did you mean 'compare'?"));
}

TEST_CASE("the help of a command speaks of that command alone") {
  const auto help_has = [](const std::string& command, const std::string& part) {
    return run_tool({command, "--help"}).output.find(part) != std::string::npos;
  };
  CHECK(help_has("diagnose", "its newest run is taken"));
  CHECK(help_has("compare", "1   a regression"));
  CHECK(help_has("show", "--top N"));
  CHECK(run_tool({"show", "calls", "--help"}).output.find("--top N") != std::string::npos);
  for (const char* const page : {"overview", "tree", "autotune"}) {
    CHECK(run_tool({"show", page, "--help"}).output.find("--top N") == std::string::npos);
  }
  CHECK(help_has("compare", "3   inconclusive"));
  CHECK(help_has("compare", "on a new finding"));
  CHECK_FALSE(help_has("compare", "newest run"));
  CHECK_FALSE(help_has("batch", "compare"));
  CHECK_FALSE(help_has("batch", "newest run is taken"));
  for (const std::string command : {"fleet", "schema", "rules", "config"}) CHECK_FALSE(help_has(command, "TRACE"));
}

TEST_CASE("rules are listed and each can be explained") {
  const Ended listed = run_tool({"rules", "--format", "json"});
  CHECK(listed.code == 0);
  const Json rules = Json::parse(listed.output)["rules"];
  CHECK(rules.size() >= 10);
  const std::string text = run_tool({"rules"}).output;
  for (const Json& rule : rules) {
    CHECK(text.find(rule["rule"].get<std::string>() + " ") != std::string::npos);
    CHECK(run_tool({"explain", rule["rule"].get<std::string>()}).code == 0);
  }
}

TEST_CASE("colours follow --color, and JSON never has any") {
  const TemporaryDirectory folder;
  const std::string slow = folder.write("slow.trace.json", slow_trace());
  const auto is_colored = [&](const std::vector<std::string>& options) {
    std::vector<std::string> arguments = {slow};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return run_tool(arguments).output.find('\x1b') != std::string::npos;
  };
  CHECK_FALSE(is_colored({}));  // no terminal
  CHECK_FALSE(is_colored({"--color", "never"}));
  CHECK(is_colored({"--color", "always"}));
  CHECK_FALSE(is_colored({"--color", "always", "--format", "json"}));
}

TEST_CASE("the same input gives the same bytes") {
  const TemporaryDirectory folder;
  const std::string slow = folder.write("slow.trace.json", slow_trace());
  CHECK(run_tool({slow, "--format", "json"}).output == run_tool({slow, "--format", "json"}).output);
}

}  // namespace
}  // namespace doctor::cli_test
