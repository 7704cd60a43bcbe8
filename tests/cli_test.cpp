// The program from outside: what it prints where, and how it ends.

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <future>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "built_paths.h"
#include "io/file_descriptor.h"
#include "pseudo_terminal.h"
#include "run_tool.h"
#include "sanitizer.h"
#include "synthetic_trace.h"

namespace doctor::cli_test {
namespace {

using Json = nlohmann::json;

/// Steps of 10 ms, of which `wait_us` are spent in a Map.
SyntheticTrace steps_with_waits(double wait_us, int step_count = 12) {
  SyntheticTrace trace;
  for (int step = 0; step < step_count; ++step) {
    const double start = 10'000.0 * step;
    trace.add("main", "IteratorGetNextOp::DoCompute", start, wait_us);
    trace.iterator("main", "Iterator::Root", 1, 0, start + 1, wait_us - 2);
    trace.iterator("main", "Iterator::Root::Map", 2, 1, start + 2, wait_us - 4);
  }
  return trace;
}

std::string trace_with_waits(double wait_us) {
  return steps_with_waits(wait_us).to_chrome_json();
}

std::string slow_trace() {
  return trace_with_waits(9'000);
}

std::string trace_without_tf_data() {
  SyntheticTrace trace;
  for (int step = 0; step < 20; ++step) {
    trace.add("main", "MatMul:MatMul", 1000 * step + 10, 100);
    trace.add("main", "Add:AddV2", 1000 * step + 200, 100);
  }
  return trace.to_chrome_json();
}

std::string gzipped(const std::string& bytes) {
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string packed(bytes.size() + 1'000, '\0');
  std::string unpacked = bytes;
  stream.next_in = reinterpret_cast<Bytef*>(unpacked.data());
  stream.avail_in = static_cast<uInt>(unpacked.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

/// One line, by the program, that holds `part`.
bool is_error_line(const std::string& errors, std::string_view part) {
  return errors.starts_with("tfdata-doctor: ") && errors.find(part) != std::string::npos &&
         std::count(errors.begin(), errors.end(), '\n') == 1;
}

std::size_t entries_in(const TemporaryDirectory& folder) {
  const std::filesystem::directory_iterator entries(folder.path());
  return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

}  // namespace

/// A file of testdata/.
std::string testdata(const std::string& path) {
  return source_dir() + "/testdata/" + path;
}

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
  CHECK(clean.output.starts_with("NOT INPUT-BOUND: "));
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
  CHECK(is_error_line(error_of({"show", "x.pb", "x.pb"}), "known: overview, input, "));
  CHECK(is_error_line(error_of({"show"}), "known: overview, input, "));
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
  CHECK(explained.output.find("min_share = 30 % (default 20 %)") != std::string::npos);
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

TEST_CASE("-o writes a file as a whole, or not at all") {
  const TemporaryDirectory folder;
  const std::string slow = folder.write("slow.trace.json", slow_trace());
  const std::string expected = run_tool({slow}).output;
  const TemporaryDirectory results;
  const std::string report = results / "report.txt";
  const Ended first = run_tool({slow, "-o", report});
  CHECK(first.code == 1);
  CHECK(first.output.empty());
  CHECK(read_whole_file(report) == expected);
  results.write("report.txt", std::string(100'000, 'x'));
  CHECK(run_tool({slow, "--output=" + report}).code == 1);
  CHECK(read_whole_file(report) == expected);
  CHECK(entries_in(results) == 1);

  const Ended lost = run_tool({slow, "-o", results / "missing/report.txt"});
  CHECK(lost.code == 2);
  CHECK(is_error_line(lost.errors, "missing/report.txt"));
  CHECK(run_tool({slow, "-o", results.path()}).code == 2);
  CHECK(entries_in(results) == 1);
}

TEST_CASE("a link that is written to survives, and its target keeps its rights") {
  const TemporaryDirectory folder;
  const std::string slow = folder.write("slow.trace.json", slow_trace());
  const std::string target = folder.write("target", "old");
  std::filesystem::permissions(target, std::filesystem::perms(0640));
  std::filesystem::create_symlink("target", folder / "link");
  CHECK(run_tool({slow, "-o", folder / "link"}).code == 1);
  CHECK(std::filesystem::is_symlink(folder / "link"));
  CHECK(read_whole_file(target).starts_with("INPUT-BOUND"));
  CHECK(std::filesystem::status(target).permissions() == std::filesystem::perms(0640));
}

TEST_CASE("a trace is not overwritten by its report") {
  const TemporaryDirectory folder;
  const std::string slow = folder.write("slow.trace.json", slow_trace());
  const Ended ended = run_tool({slow, "-o", folder.path() + "/./slow.trace.json"});
  CHECK(ended.code == 2);
  CHECK(is_error_line(ended.errors, "the report would replace it"));
  CHECK(read_whole_file(slow) == slow_trace());
}

TEST_CASE("output that cannot be written ends with 2") {
  const TemporaryDirectory folder;
  const std::string slow = folder.write("slow.trace.json", slow_trace());
  Tool full;
  full.output_path = "/dev/full";
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{slow}, {"rules"}, {"explain", "input-bound"}, {"--help"}, {"--version"}}) {
    const Ended ended = full.run(arguments);
    CHECK(ended.code == 2);
    CHECK(is_error_line(ended.errors, "standard output: cannot be written"));
  }
  CHECK(run_tool({slow, "-o", "/dev/full"}).code == 2);
  Tool closed;
  closed.has_closed_output = true;
  CHECK(closed.run({slow}).code == 2);
  // What is spooled must not take the place of the closed stream and swallow the report.
  closed.input = slow_trace();
  closed.pipes_input = true;
  CHECK(closed.run({"-"}).code == 2);
}

TEST_CASE("a reader that goes away is no reason to complain or to die of a signal") {
  const TemporaryDirectory folder;
  Tool tool;
  tool.has_reader = false;
  const Ended ended = tool.run({folder.write("slow.trace.json", slow_trace())});
  CHECK(ended.code == 2);
  CHECK(ended.errors.empty());
}

TEST_CASE("help and version go to standard output") {
  const Ended help = run_tool({"--help"});
  CHECK(help.code == 0);
  for (const std::string usage :
       {"[diagnose] [OPTIONS] TRACE...", "batch [OPTIONS] TRACE...", "fleet [OPTIONS] RESULTS...",
        "query SQL [OPTIONS] TRACE...", "schema DOCUMENT|--for ENGINE", "man [OPTIONS]"}) {
    CHECK_MESSAGE(help.output.find("  tfdata-doctor " + usage) != std::string::npos, usage);
  }
  CHECK(help.output.find("complete WORD") == std::string::npos);
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

TEST_CASE("timings go to standard error and leave the report as it is") {
  const TemporaryDirectory folder;
  const std::string slow = folder.write("slow.trace.json", slow_trace());
  const Ended ended = run_tool({slow, "--timings", "--threads", "3"});
  CHECK(ended.output == run_tool({slow}).output);
  const std::string number = "[0-9]+\\.[0-9]{3}";
  const auto stage = [&](const std::string& name) { return name + " +" + number + " ms\n"; };
  const std::string rules = "(  [a-z-]+ +" + number + " ms\n)+";
  const std::string page = stage("open") + "read +" + number +
                           " ms +[0-9]+\\.[0-9] MB/s as stored, [0-9,]+ events/s\n" + stage("build tree") +
                           stage("measure") + stage("diagnose") + rules + stage("render and write") + "peak memory +" +
                           number + " MB +3 threads\n";
  INFO(ended.errors);
  CHECK(std::regex_match(ended.errors, std::regex(page)));
}

TEST_CASE("the peak memory is the program's own, not that of the process that started it") {
  if (kHasSanitizer) return;  // it needs more than what is taken here
  const TemporaryDirectory folder;
  const std::string slow = folder.write("slow.trace.json", slow_trace());
  const std::vector<char> taken(100'000'000, 'x');
  const std::string errors = run_tool({slow, "--timings"}).errors;
  REQUIRE(taken.back() == 'x');
  const std::size_t line = errors.rfind("peak memory");
  REQUIRE(line != std::string::npos);
  const double megabytes = std::stod(errors.substr(line + std::string("peak memory").size()));
  CHECK(megabytes > 1);
  CHECK(megabytes < 50);
}

TEST_CASE("the number of threads leaves the report as it is, and a wrong one is an error") {
  const TemporaryDirectory folder;
  const std::string slow = folder.write("slow.trace.json", slow_trace());
  const std::string expected = run_tool({slow, "--format", "json"}).output;
  for (const std::string count : {"1", "2", "7", "256"}) {
    CHECK(run_tool({slow, "--format", "json", "--threads", count}).output == expected);
    CHECK(run_tool({"--threads", count, "show", "tree", slow}).code == 0);
  }
  for (const std::string count : {"0", "257", "-1", "two", "1.5", "2x", "", " 2", "99999999999999999999"}) {
    const Ended ended = run_tool({slow, "--threads", count});
    CHECK(ended.code == 2);
    CHECK(ended.output.empty());
    CHECK(is_error_line(ended.errors, "--threads: '" + count + "' is not a whole number from 1 to 256"));
  }
  CHECK(is_error_line(run_tool({"rules", "--threads", "1"}).errors, "unknown option '--threads'"));
}

TEST_CASE("as many threads as cores that may be used, but no more than four, are the default") {
  cpu_set_t before;
  REQUIRE(::sched_getaffinity(0, sizeof(before), &before) == 0);
  const TemporaryDirectory folder;
  const std::string slow = folder.write("slow.trace.json", slow_trace());
  const auto is_said = [&](const std::string& threads) {
    return run_tool({slow, "--timings"}).errors.ends_with(" MB   " + threads + "\n");
  };
  const int cores = std::min(CPU_COUNT(&before), 4);
  CHECK(is_said(cores == 1 ? "1 thread" : std::to_string(cores) + " threads"));
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int core = 0; core < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++core) {
    if (CPU_ISSET(core, &before)) CPU_SET(core, &one);
  }
  REQUIRE(::sched_setaffinity(0, sizeof(one), &one) == 0);
  CHECK(is_said("1 thread"));
  REQUIRE(::sched_setaffinity(0, sizeof(before), &before) == 0);
}

TEST_CASE("--max-memory may stand before the command and may be more than there is") {
  if (kHasSanitizer) return;  // see sanitizer.h
  const TemporaryDirectory folder;
  const std::string slow = folder.write("slow.trace.json", slow_trace());
  const Ended ended = run_tool({"--max-memory", "100T", "show", "tree", slow});
  CHECK(ended.code == 0);
  CHECK(ended.output == run_tool({"show", "tree", slow}).output);
}

TEST_CASE("a size of memory that is none is an error that says what is one") {
  for (const std::string size : {"abc", "0", "-1", "1e3M", "nan", "10 M"}) {
    const Ended ended = run_tool({"x.pb", "--max-memory", size});
    CHECK(ended.code == 2);
    CHECK(is_error_line(ended.errors,
                        "--max-memory: '" + size + "' is not a valid size; a size is a number of bytes, or"));
  }
}

TEST_CASE("under a limit of memory the report is whole, or one line says that more is needed") {
  if (kHasSanitizer) return;  // see sanitizer.h
  const TemporaryDirectory folder;
  const SyntheticTrace trace = steps_with_waits(9'000, 20'000);
  const std::vector<std::string> files = {folder.write("host.xplane.pb", trace.to_xspace()),
                                          folder.write("host.trace.json.gz", gzipped(trace.to_chrome_json()))};
  for (const std::string& file : files) {
    const std::string expected = run_tool({file, "--format", "json"}).output;
    const auto run_within = [&](const std::string& size) {
      CAPTURE(size);
      Ended ended = run_tool({file, "--format", "json", "--max-memory", size});
      if (ended.code == 1) {
        CHECK(ended.output == expected);
        CHECK(ended.errors.empty());
      } else {
        CHECK(ended.code == 2);
        CHECK(ended.output.empty());
        CHECK(is_error_line(ended.errors, "more memory is needed than --max-memory " + size + " allows ("));
      }
      return ended;
    };
    CHECK(run_within("1").errors.find("(starting)") != std::string::npos);
    CHECK(run_within("1K").errors.find("(starting)") != std::string::npos);
    CHECK(run_within("1MB").errors.find("(reading " + file + ", ") != std::string::npos);
    CHECK(run_within("0.25G").code == 1);
    for (int kilobytes = 256; kilobytes < 8'192; kilobytes += 128) run_within(std::to_string(kilobytes) + "K");
  }
}

TEST_CASE("on a terminal a progress bar appears while work lasts, and gives way to what is printed") {
  const EnvironmentVariable kind("TERM", "xterm");
  PseudoTerminal terminal(80);
  int ends[2] = {-1, -1};
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  const FileDescriptor read_end(ends[0]);
  Tool tool;
  tool.input_from = read_end.number();
  tool.errors_to = terminal.descriptor();
  std::future<Ended> run = std::async(std::launch::async, [&] { return tool.run({"-"}); });
  FileDescriptor write_end(ends[1]);
  REQUIRE(::write(write_end.number(), "no trace", 8) == 8);
  // No more comes for now: the program waits, and the bar's delay passes.
  terminal.wait_for("\rreading  ");
  write_end = FileDescriptor();
  const Ended ended = run.get();
  CHECK(ended.code == 2);
  CHECK(ended.output.empty());
  const std::string& written = terminal.hang_up();
  CHECK(written.find(" s\x1b[K\r\x1b[Ktfdata-doctor: standard input: this is not a trace") != std::string::npos);
  CHECK(written.ends_with("\r\n"));
}

TEST_CASE("the same input gives the same bytes") {
  const TemporaryDirectory folder;
  const std::string slow = folder.write("slow.trace.json", slow_trace());
  CHECK(run_tool({slow, "--format", "json"}).output == run_tool({slow, "--format", "json"}).output);
}

}  // namespace doctor::cli_test
