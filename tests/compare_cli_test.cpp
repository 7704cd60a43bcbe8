// The gate as a job in CI uses it: two folders of recordings, and every exit status.

#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "built_paths.h"
#include "ci_reader.h"
#include "run_tool.h"

namespace doctor::compare_cli_test {
namespace {

using Json = nlohmann::json;

const std::string kFolder = source_dir() + "/testdata/compare/slower-decode/";
const std::string kBase = kFolder + "base";            // five recordings
const std::string kCandidate = kFolder + "candidate";  // five of the same job, whose DecodePng takes 20 % longer

std::vector<std::string> first_recordings(const std::string& folder, int count) {
  std::vector<std::string> files;
  files.reserve(static_cast<std::size_t>(count));
  for (int index = 0; index < count; ++index)
    files.push_back(folder + "/run_" + std::to_string(index) + ".xplane.pb.gz");
  return files;
}

std::vector<std::string> compare_of(std::vector<std::string> base, const std::vector<std::string>& candidate,
                                    const std::vector<std::string>& options = {}) {
  base.insert(base.begin(), "compare");
  base.emplace_back("--");
  base.insert(base.end(), candidate.begin(), candidate.end());
  base.insert(base.end(), options.begin(), options.end());
  return base;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a slower op in five recordings against five is a regression: 1") {
  const Ended ended = run_tool({"compare", kBase, "--", kCandidate});
  CHECK(ended.code == 1);
  CHECK(contains(ended.output, "REGRESSION: DecodePng in Dataset.map with num_parallel_calls: "));
  CHECK(contains(ended.output, "5 base with 5 candidate recordings"));
  CHECK(ended.errors.empty());
}

TEST_CASE("a faster op is none: 0") {
  const Ended ended = run_tool({"compare", kCandidate, "--", kBase});
  CHECK(ended.code == 0);
  CHECK(ended.output.starts_with("NO REGRESSION: nothing got slower; faster: DecodePng"));
}

TEST_CASE("too few recordings tell nothing, and how many would: 3") {
  const Ended ended = run_tool(compare_of(first_recordings(kBase, 2), first_recordings(kCandidate, 2)));
  CHECK(ended.code == 3);
  CHECK(ended.output.starts_with(
      "INCONCLUSIVE: the pipeline is the same; times need 5 recordings a side, there are 2 and 2"));
  const auto three = compare_of(first_recordings(kBase, 3), first_recordings(kCandidate, 3));
  CHECK(run_tool(three).code == 3);
  CHECK(run_tool(compare_of(first_recordings(kBase, 3), first_recordings(kCandidate, 3), {"--weak"})).code == 1);
  CHECK(run_tool(compare_of(first_recordings(kBase, 2), first_recordings(kCandidate, 2), {"--weak"})).code == 3);
}

TEST_CASE("recordings that are read side by side compare as if they were read one after another") {
  const TemporaryDirectory folder;
  const std::string broken = folder.write("broken.xplane.pb", "no trace");
  const auto with = [&](const char* option, const char* value) {
    return run_tool({"compare", broken, kBase, "--format", "json", option, value, "--", kCandidate,
                     kFolder + "base/run_0.xplane.pb.gz"});
  };
  const Ended in_turn = with("--threads", "1");
  CHECK(in_turn.code == 2);
  CHECK(Json::parse(in_turn.output).at("recordings").at("candidate") == 6);
  for (const Ended& other : {with("--threads", "3"), with("--threads", "8"), with("--max-memory", "4G")}) {
    CHECK(other.output == in_turn.output);
    CHECK(other.errors == in_turn.errors);
    CHECK(other.code == in_turn.code);
  }
}

TEST_CASE("what cannot be read is told, and no gate passes without it: 2") {
  const TemporaryDirectory folder;
  const std::string broken = folder.write("broken.xplane.pb", "no trace");
  const Ended one = run_tool({"compare", kBase, broken, "--", kBase});
  CHECK(one.code == 2);
  CHECK(contains(one.errors, "broken.xplane.pb"));
  CHECK(contains(one.output, "REGRESSION"));  // the rest is compared all the same
  CHECK(run_tool({"compare", kBase, "--", folder / "absent"}).code == 2);
  CHECK(contains(run_tool({"compare", kBase}).errors, "no base to compare with; tfdata-doctor compare BASE... -- "));
  CHECK(contains(run_tool({"compare", kBase, "--"}).errors, "no candidate to compare"));
  CHECK(run_tool({"compare", kBase, "--", kCandidate, "-o", folder / "absent/out"}).code == 2);
  const Ended onto_input = run_tool({"compare", kBase, "--", kCandidate, "-o", kCandidate + "/run_0.xplane.pb.gz"});
  CHECK(onto_input.code == 2);
}

TEST_CASE("a recording that is given twice counts once") {
  std::vector<std::string> repeated = first_recordings(kBase, 1);
  for (int index = 0; index < 4; ++index) repeated.push_back(repeated.front());
  const Ended ended = run_tool(compare_of(repeated, {kCandidate}));
  CHECK(ended.code == 3);
  CHECK(contains(ended.output, "there are 1 and 5"));
  CHECK(contains(ended.errors, "holds the same as a recording before it"));
  CHECK(contains(run_tool({"compare", kBase, "--", kBase}).errors, "is on both sides"));
}

TEST_CASE("thresholds of the comparison are set like those of a rule") {
  CHECK(run_tool({"compare", kBase, "--", kCandidate, "--set", "compare.min_ratio=1.5"}).code == 0);
  CHECK(run_tool({"compare", kBase, "--", kCandidate, "--set", "compare.min_recordings=6"}).code == 3);
  CHECK(contains(run_tool({"compare", kBase, "--", kCandidate, "--set", "compare.ratio=1"}).errors,
                 "the rule compare has no threshold 'ratio'"));
  const Ended page = run_tool({"explain", "compare"});
  CHECK(page.code == 0);
  CHECK(contains(page.output, "min_ratio"));
}

TEST_CASE("GetNext and steps are told, and judged where the user asks for it") {
  const Json told = Json::parse(run_tool({"compare", kBase, "--", kCandidate, "--format", "json"}).output);
  REQUIRE(told["pipelines"].size() == 3);
  CHECK(told["pipelines"][0]["kind"] == "get_next");
  CHECK_FALSE(told["pipelines"][0]["judged"].get<bool>());
  const Json judged = Json::parse(
      run_tool({"compare", kBase, "--", kCandidate, "--format", "json", "--judge", "get-next", "--judge", "step"})
          .output);
  CHECK(judged["pipelines"][0]["judged"].get<bool>());
  CHECK(judged["pipelines"][1]["judged"].get<bool>());
}

TEST_CASE("--max-slowdown: only a step that gets so much longer fails") {
  CHECK(run_tool({"compare", kBase, "--", kCandidate, "--max-slowdown", "2%"}).code == 1);
  const Ended allowed = run_tool({"compare", kBase, "--", kCandidate, "--max-slowdown", "0.5"});
  CHECK(allowed.code == 0);
  CHECK(contains(allowed.output, "% longer, and 50% are allowed"));
  for (const char* const wrong : {"2", "-1%", "x", ""}) {
    CHECK(contains(run_tool({"compare", kBase, "--", kCandidate, "--max-slowdown", wrong}).errors,
                   "is not a share like 2% or 0.02"));
  }
}

TEST_CASE("a budget that the candidate exceeds fails, whatever the base is") {
  const Ended ended = run_tool({"compare", kBase, "--", kBase, "--max-input-share", "0.0001"});
  CHECK(ended.code == 1);
  CHECK(contains(ended.output, "max_input_share"));
  CHECK(contains(ended.output, "is exceeded"));
  CHECK(run_tool({"compare", kCandidate, "--", kBase, "--max-input-share", "1"}).code == 0);
}

TEST_CASE("--ideal: how much of the gap to a measured ceiling the candidate closed") {
  const std::string traces = source_dir() + "/testdata/traces/";
  const std::string slow = traces + "guide_naive.xplane.pb";
  const std::string faster = traces + "sequential_interleave_tf2.21.xplane.pb";
  const std::string ideal = traces + "guide_cache.xplane.pb";
  const Ended ended = run_tool({"compare", "--ideal", ideal, slow, "--", faster});
  CHECK(ended.code != 2);
  CHECK(contains(ended.output, "closed "));
  CHECK(contains(ended.output, "% of the gap to the ideal run: base "));
  const Json json =
      Json::parse(run_tool({"compare", "--ideal", ideal, "--format", "json", slow, "--", faster}).output)["ideal"];
  CHECK(json["file"] == ideal);
  const Json& rates = json["steps_per_s"];
  const double base = rates["base"].get<double>();
  CHECK(json["closes"].get<double>() ==
        doctest::Approx((rates["candidate"].get<double>() - base) / (rates["ideal"].get<double>() - base)));
  const Ended none = run_tool({"compare", "--ideal", traces + "no_get_next_tf2.4.xplane.pb", slow, "--", faster});
  CHECK(none.code == 2);
  CHECK(contains(none.errors, "no_get_next_tf2.4.xplane.pb: the ideal run shows no steps of a consumer"));
  CHECK(Json::parse(run_tool({"compare", "--format", "json", slow, "--", faster}).output)["ideal"].is_null());
}

TEST_CASE("the JSON of a comparison has the keys that scripts rely on") {
  const Json json = Json::parse(run_tool({"compare", kBase, "--", kCandidate, "--format", "json"}).output);
  CHECK(json["schema"] == "tfdata-doctor.comparison/1");
  CHECK(json["outcome"] == "regression");
  CHECK(json["recordings"] == Json{{"base", 5}, {"candidate", 5}, {"needed", 5}});
  for (const Json& change : json["structure"]) CHECK_FALSE(change["regression"].get<bool>());
  const Json& row = json["times"][0];
  CHECK(row["subject"] == "Iterator::Root::Prefetch::BatchV2::ParallelMapV2");
  CHECK(row["op"] == "DecodePng");
  CHECK(row["difference"] == "slower");
  CHECK(row["regression"] == true);
  CHECK(row["base"].size() == 5);
  CHECK(row["ratio"].get<double>() == doctest::Approx(1.2).epsilon(0.03));
  CHECK(row["interval"]["low"].get<double>() > 1.1);
  CHECK(row["p_value"].get<double>() == doctest::Approx(1 / 252.0));
}

TEST_CASE("documents for CI say what text and exit status say") {
  const TemporaryDirectory folder;
  const Ended ended = run_tool({"compare", kBase, "--", kCandidate, "--source-file", "src/input.py:3", "--output",
                                "sarif=" + (folder / "s"), "--output", "junit=" + (folder / "j"), "--output",
                                "gitlab=" + (folder / "g"), "--output", "markdown=" + (folder / "m")});
  CHECK(ended.code == 1);
  CHECK(ended.output.starts_with("REGRESSION"));
  const Json sarif = Json::parse(read_whole_file(folder / "s"));
  REQUIRE(sarif["runs"][0]["results"].size() == 1);
  CHECK(sarif["runs"][0]["results"][0]["ruleId"] == "slower-call");
  CHECK(sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] ==
        "src/input.py");
  CHECK(Json::parse(read_whole_file(folder / "g")).size() == 1);
  CHECK(contains(read_whole_file(folder / "j"), "failures=\"1\""));
  CHECK(
      contains(read_whole_file(folder / "m"), "| DecodePng in Dataset.map with num_parallel_calls | 1.29 ms a call |"));
  const Ended annotations = run_tool({"compare", kBase, "--", kCandidate, "--format", "github"});
  CHECK(annotations.code == 1);
  // The path as it is seen from the repository, if the test runs in one.
  const std::size_t begin = annotations.output.find("\n::error file=");
  REQUIRE(begin != std::string::npos);
  const std::string place = annotations.output.substr(begin, annotations.output.find(',', begin) - begin);
  CHECK(place.ends_with("run_0.xplane.pb.gz"));
}

TEST_CASE("a comment has a picture, and says since which version a number is what it is") {
  const TemporaryDirectory folder;
  CHECK(
      run_tool({"compare", kBase, "--", kCandidate, "-o", "markdown=" + (folder / "m"), "-o", "svg=" + (folder / "s")})
          .code == 1);
  const std::string comment = read_whole_file(folder / "m");
  CHECK(contains(comment, "  before \u2588"));
  CHECK(contains(comment, "  after  \u2588"));
  const std::string picture = read_whole_file(folder / "s");
  CHECK(picture.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  CHECK(contains(picture, ">The candidate is slower than the base</text>"));
  CHECK(contains(picture, "DecodePng in Dataset.map with num_parallel_calls"));
  std::size_t slower = 0;
  for (std::size_t at = picture.find("class=\"hot\""); at != std::string::npos;
       at = picture.find("class=\"hot\"", at + 1)) {
    ++slower;
  }
  CHECK(slower == 5);  // a dot for each recording of the candidate
}

TEST_CASE("settings of a file are told, and a baseline that it names stands in for a base that is not named") {
  const TemporaryDirectory folder;
  const std::string file = folder / "runs.json";
  CHECK(run_tool({"baseline", "add", file, kBase}).code == 0);
  const std::string config = folder.write("doctor.toml", "baseline = \"" + file + "\"\nfail-on = \"never\"\n");
  const Ended ended = run_tool({"compare", kCandidate, "--config", config, "--format", "json"});
  CHECK(ended.code == 1);
  const Json json = Json::parse(ended.output);
  CHECK(json["recordings"]["base"] == 5);
  CHECK(contains(json["settings_note"].get<std::string>(), "fail-on never"));
  CHECK(contains(json["settings_note"].get<std::string>(), "baseline "));
  CHECK(contains(run_tool({"compare", kCandidate, "--config", config}).output, "settings  "));
  CHECK(run_tool({"compare", kCandidate, "--", kCandidate, "--config", config}).code != 1);
  CHECK(run_tool({"compare", kCandidate, "--no-config"}).code == 2);
  const Json plain = Json::parse(run_tool({"compare", kBase, "--", kBase, "--format", "json", "--no-config"}).output);
  CHECK_FALSE(plain.contains("settings_note"));
}

TEST_CASE("baselines of this version and of earlier ones are read") {
  for (const char* const name : {"2026-11-23.json", "2026-11-25.json"}) {
    CAPTURE(name);
    const std::string file = source_dir() + "/testdata/baselines/" + name;
    const Ended ended = run_tool({"compare", "--baseline", file, kCandidate});
    CHECK(ended.code == 1);
    CHECK(contains(ended.output, "DecodePng in Dataset.map with num_parallel_calls: "));
    CHECK(run_tool({"compare", "--baseline", file, kBase}).code == 0);
    CHECK(contains(run_tool({"baseline", "log", file}).output, "main"));
  }
}

TEST_CASE("a baseline stands in for the recordings that it was made of") {
  const TemporaryDirectory folder;
  for (const std::string name : {"runs.json", "runs.sqlite"}) {
    CAPTURE(name);
    const std::string file = folder / name;
    CHECK(run_tool({"baseline", "add", file, kBase, "--label", "main"}).output == "5 runs added\n");
    CHECK(run_tool({"baseline", "add", file, kBase}).output == "0 runs added, 5 known already\n");
    CHECK(run_tool({"compare", "--baseline", file, kCandidate, "-q"}).output ==
          run_tool({"compare", kBase, "--", kCandidate, "-q"}).output);
    CHECK(run_tool({"compare", file, "--", kCandidate}).code == 1);
    CHECK(run_tool({"compare", "--baseline", file, "--label", "main", kCandidate}).code == 1);
    CHECK(contains(run_tool({"compare", "--baseline", file, "--label", "mian", kCandidate}).errors,
                   "no run with the label"));
    CHECK(run_tool({"compare", "--baseline", file, kBase, "--", kCandidate}).code == 2);
    CHECK(run_tool({"baseline", "prune", file}).code == 2);
    CHECK(run_tool({"baseline", "prune", file, "--keep", "3"}).output == "2 runs removed\n");
    CHECK(run_tool({"compare", "--baseline", file, kCandidate}).code == 3);
    const Ended shown = run_tool({"baseline", "show", file});
    CHECK(shown.code == 0);
    CHECK(contains(shown.output, "run_4.xplane.pb.gz"));
    CHECK_FALSE(contains(shown.output, "run_0.xplane.pb.gz"));
    const Json runs = Json::parse(run_tool({"baseline", "show", file, "--format", "json"}).output)["runs"];
    CHECK(runs.size() == 3);
    std::size_t decoders = 0;
    for (const Json& iterator : runs[0]["iterators"]) {
      for (const Json& op : iterator["function_ops"]) {
        if (op["op"] != "DecodePng") continue;
        ++decoders;
        CHECK(op["per_run"]["low"] == 1);  // every run of the function decodes one picture
        CHECK(op["per_run"]["high"] == 1);
        CHECK(op["per_run"]["runs"].get<int>() > 8);
      }
    }
    CHECK(decoders == 1);
  }
  const std::string kept = folder / "kept.json";
  CHECK(run_tool({"baseline", "add", kept, kBase, "--keep-sessions", "1"}).code == 0);
  const Ended log = run_tool({"baseline", "log", kept});
  CHECK(log.code == 0);
  CHECK(contains(log.output, "no number changed for good"));
  CHECK(Json::parse(run_tool({"baseline", "log", kept, "--format", "json"}).output)["schema"] ==
        "tfdata-doctor.history/1");
  CHECK(contains(run_tool({"baseline", "log", kept, "--format", "html"}).output, "no number changed for good"));
  CHECK(run_tool({"baseline", "log", kept, "--format", "csv"}).output.starts_with("number,recorded_at,label,"));
  CHECK(run_tool({"baseline", "show", folder / "absent"}).code == 2);
  CHECK(contains(run_tool({"compare", "--baseline", folder / "absent.json", kCandidate}).errors,
                 "absent.json: there is no such baseline yet; 'tfdata-doctor baseline add FILE TRACE...' makes one"));
  CHECK(run_tool({"baseline", "show", kBase + "/run_0.xplane.pb.gz"}).code == 2);
  CHECK(run_tool({"baseline", "showing", "x"}).code == 2);
  CHECK(contains(run_tool({"baseline", "show"}).errors, "baseline needs a FILE"));
}

}  // namespace doctor::compare_cli_test
