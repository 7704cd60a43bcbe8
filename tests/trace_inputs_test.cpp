#include "io/trace_inputs.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "temporary_directory.h"

namespace doctor::trace_inputs_test {
namespace {

using Names = std::vector<std::string>;

/// The paths below `directory`, as doctest compares and shows them best.
Names below(const TemporaryDirectory& directory, const std::vector<std::string>& paths) {
  Names names;
  for (const std::string& path : paths) {
    names.push_back(path.starts_with(directory.path() + "/") ? path.substr(directory.path().size() + 1) : path);
  }
  return names;
}

Names resolve(const TemporaryDirectory& directory, const std::vector<std::string>& paths,
              const std::optional<std::string>& run = std::nullopt) {
  const Result<std::vector<std::string>> files = resolve_inputs(paths, run);
  if (!files) FAIL(to_string(files.error()));
  return below(directory, *files);
}

Error refusal(const std::string& path, const std::optional<std::string>& run = std::nullopt) {
  const Result<std::vector<std::string>> files = resolve_inputs({path}, run);
  REQUIRE_FALSE(files);
  CHECK(files.error().where == path);
  return files.error();
}

Names run_directories(const TemporaryDirectory& directory, const std::string& log_directory) {
  const Result<std::vector<Run>> runs = list_runs(log_directory);
  REQUIRE(runs);
  std::vector<std::string> directories;
  for (const Run& run : *runs) directories.push_back(run.directory);
  return below(directory, directories);
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("which files of a run directory are read") {
  struct Case {
    const char* name;
    Names present;
    Names chosen;
  };
  const std::vector<Case> cases = {
      {"one host", {"h.xplane.pb"}, {"h.xplane.pb"}},
      {"two hosts, sorted", {"b.xplane.pb", "a.trace.json.gz"}, {"a.trace.json.gz", "b.xplane.pb"}},
      {"XSpace before JSON", {"h.trace.json", "h.trace.json.gz", "h.xplane.pb.gz"}, {"h.xplane.pb.gz"}},
      {"plain before compressed",
       {"h.xplane.pb.gz", "h.xplane.pb", "g.trace.json.gz", "g.trace.json"},
       {"g.trace.json", "h.xplane.pb"}},
      {"JSON of the profiler before that of xprof", {"h.xprof.trace.json", "h.trace.json.gz"}, {"h.trace.json.gz"}},
      {"xprof JSON is of the same host", {"h.xprof.trace.json.gz", "h.xplane.pb"}, {"h.xplane.pb"}},
      {"xprof JSON alone", {"h.xprof.trace.json.gz"}, {"h.xprof.trace.json.gz"}},
      {"every timeline is a step",
       {"timeline_2.json", "timeline_1.json.gz", "timeline_1.json", "timeline_3.json.gz"},
       {"timeline_1.json", "timeline_2.json", "timeline_3.json.gz"}},
      {"TF1's ProfilerHook writes a hyphen",
       {"timeline-3.json", "timeline-12.json"},
       {"timeline-12.json", "timeline-3.json"}},
      {"a host whose name has dots", {"a.b.c.xplane.pb", "a.b.trace.json"}, {"a.b.c.xplane.pb", "a.b.trace.json"}},
      {"what else TF writes",
       {"h.xplane.pb", "h.memory_profile.json.gz", "h.overview_page.pb", "h.input_pipeline.pb", "h.kernel_stats.pb",
        "._h.xplane.pb", "h.xplane.pb.bak", "timeline.json", "notes.json"},
       {"h.xplane.pb"}},
  };
  for (const Case& example : cases) {
    CAPTURE(example.name);
    const TemporaryDirectory directory;
    for (const std::string& name : example.present) directory.write(name, name);
    CHECK(resolve(directory, {directory.path()}) == example.chosen);
  }
}

TEST_CASE("a folder named like a trace file is none") {
  const TemporaryDirectory directory;
  directory.write("h.xplane.pb/readme", "");
  directory.write("g.trace.json", "");
  CHECK(resolve(directory, {directory.path()}) == Names{"g.trace.json"});
}

TEST_CASE("a log directory stands for its newest run") {
  const TemporaryDirectory directory;
  directory.write("train/plugins/profile/2026_a/h.xplane.pb", "", 300);
  directory.write("train/plugins/profile/2026_b/h.xplane.pb", "", 100);
  directory.write("train/plugins/profile/2026_b/i.xplane.pb", "", 400);
  directory.write("plugins/profile/2026_c/h.trace.json.gz", "", 200);
  directory.write("plugins/profile/2026_d/h.trace.json.gz", "", 200);
  directory.write("plugins/profile/nothing_of_use/h.memory_profile.json.gz", "", 900);
  directory.write("plugins/other/2026_e/h.xplane.pb", "", 900);
  directory.write("somewhere/2026_f/h.xplane.pb", "", 900);
  directory.write("train/events.out.tfevents.1.host", "", 900);

  CHECK(run_directories(directory, directory.path()) == Names{"train/plugins/profile/2026_b",
                                                              "train/plugins/profile/2026_a", "plugins/profile/2026_d",
                                                              "plugins/profile/2026_c"});
  const Names newest = {"train/plugins/profile/2026_b/h.xplane.pb", "train/plugins/profile/2026_b/i.xplane.pb"};
  CHECK(resolve(directory, {directory.path()}) == newest);
  CHECK(resolve(directory, {directory / "train"}) == newest);
  CHECK(resolve(directory, {directory / "train/plugins/"}) == newest);
  CHECK(resolve(directory, {directory / "train/plugins/profile"}) == newest);
  CHECK(resolve(directory, {directory / "train/plugins/profile/2026_b/"}) == newest);

  const std::vector<Run> runs = list_runs(directory.path()).value();
  REQUIRE(runs.size() == 4);
  CHECK(runs[0].name == "2026_b");
  CHECK(below(directory, runs[0].files) == newest);
}

TEST_CASE("a run is chosen by its name or by the beginning of it") {
  const TemporaryDirectory directory;
  directory.write("plugins/profile/2026_01/h.xplane.pb", "", 3);
  directory.write("plugins/profile/2026_01_b/h.xplane.pb", "", 2);
  directory.write("plugins/profile/2026_02/h.xplane.pb", "", 1);
  directory.write("other/plugins/profile/2026_03/h.xplane.pb", "", 0);
  directory.write("another/plugins/profile/2026_03/h.xplane.pb", "", 0);
  const std::string logs = directory.path();

  CHECK(resolve(directory, {logs}, "2026_02") == Names{"plugins/profile/2026_02/h.xplane.pb"});
  CHECK(resolve(directory, {logs}, "2026_01") == Names{"plugins/profile/2026_01/h.xplane.pb"});
  CHECK(resolve(directory, {logs}, "2026_01_") == Names{"plugins/profile/2026_01_b/h.xplane.pb"});
  CHECK(resolve(directory, {directory / "plugins/profile/2026_02/"}, "2026_02") ==
        Names{"plugins/profile/2026_02/h.xplane.pb"});

  const Error ambiguous = refusal(logs, "2026_0");
  CHECK(ambiguous.what == "'2026_0' names 5 runs");
  CHECK(contains(ambiguous.next, logs + "/plugins/profile/2026_02"));
  const Error twice = refusal(logs, "2026_03");
  CHECK(twice.what == "'2026_03' names 2 runs");
  CHECK(contains(twice.next, logs + "/other/plugins/profile/2026_03"));
  const Error missing = refusal(logs, "2025");
  CHECK(missing.what == "holds no run '2025'");
  CHECK(missing.next == "its newest runs: 2026_01, 2026_01_b, 2026_02, 2026_03, 2026_03");
  const Error inside = refusal(directory / "plugins/profile/2026_02", "2026_01");
  CHECK(inside.next == "its newest runs: 2026_02");
  directory.write("copied/h.xplane.pb", "");
  const Error itself = refusal(directory / "copied", "2026_01");
  CHECK(itself.what == "holds no run '2026_01'");
  CHECK(itself.next == "it is itself the run 'copied'");
}

TEST_CASE("symbolic links are followed once") {
  const TemporaryDirectory directory;
  namespace fs = std::filesystem;
  directory.write("logs/plugins/profile/run/h.xplane.pb", "", 1);
  directory.write("elsewhere/h.xplane.pb", "", 2);
  fs::create_directory_symlink(directory / "logs", directory / "logs/a_loop");
  fs::create_directory_symlink(directory / "logs/plugins/profile/run", directory / "logs/plugins/profile/a_latest");
  fs::create_directory_symlink(directory / "elsewhere", directory / "logs/plugins/profile/linked");
  fs::create_directory_symlink(directory / "missing", directory / "logs/plugins/profile/dangling");
  CHECK(run_directories(directory, directory / "logs") ==
        Names{"logs/plugins/profile/linked", "logs/plugins/profile/run"});
}

TEST_CASE("the search goes sixteen folders deep") {
  const TemporaryDirectory directory;
  std::string deep;
  for (int depth = 1; depth <= 13; ++depth) deep += "d/";
  directory.write(deep + "plugins/profile/reached/h.xplane.pb", "");
  directory.write(deep + "d/plugins/profile/too_deep/h.xplane.pb", "");
  CHECK(run_directories(directory, directory.path()) == Names{deep + "plugins/profile/reached"});
}

TEST_CASE("paths are kept as given, each file once") {
  const TemporaryDirectory directory;
  directory.write("b.json", "");
  directory.write("a.json", "");
  directory.write("logs/plugins/profile/run/h.xplane.pb", "");
  const std::string run = directory / "logs/plugins/profile/run";
  CHECK(resolve(directory, {"-", directory / "b.json", directory / "a.json", directory / "b.json", "-"}) ==
        Names{"-", "a.json", "b.json"});
  CHECK(resolve(directory, {run, directory / "logs", run + "/../run/h.xplane.pb"}) ==
        Names{"logs/plugins/profile/run/h.xplane.pb"});
  CHECK(resolve(directory, {}).empty());
}

TEST_CASE("what holds no traces says what it holds and what to do") {
  const TemporaryDirectory directory;
  std::filesystem::create_directory(directory / "empty");
  directory.write("logs/plugins/profile/run/h.memory_profile.json.gz", "");
  directory.write("logs/events.out.tfevents.1.host", "");
  for (int i = 1; i <= 7; ++i) directory.write("many/" + std::to_string(i), "");
  const std::string none =
      "holds no trace files (*.xplane.pb, *.trace.json[.gz], timeline_*.json), "
      "here or in plugins/profile/ below: ";
  CHECK(refusal(directory / "empty").what == none + "it is empty");
  CHECK(refusal(directory / "logs").what == none + "it holds events.out.tfevents.1.host, plugins/");
  CHECK(refusal(directory / "many").what == none + "it holds 1, 2, 3, 4, 5 and 2 more");
  CHECK(refusal(directory / "empty").next == "record one with tf.profiler.experimental.start(logdir)");
  CHECK(refusal(directory / "empty", "some_run").what == none + "it is empty");
  CHECK(refusal(directory / "lgos").next == "did you mean '" + directory / "logs" + "'?");
  CHECK(refusal(directory / "lgos/").next == "did you mean '" + directory / "logs" + "'?");
  CHECK(list_runs(directory / "empty").value().empty());
  CHECK(list_runs(directory / "absent").error().what == "no such file or directory");
  CHECK(list_runs(directory / "many/1").error().what == "cannot be read: Not a directory");
}

TEST_CASE("folders of traces below one that is no log directory are named") {
  const TemporaryDirectory directory;
  directory.write("all/2024/a.xplane.pb", "");
  directory.write("all/2025/b.xplane.pb", "");
  const Error error = refusal(directory / "all");
  CHECK(contains(error.what, "holds no run of its own, but trace files in " + (directory / "all/2024")));
  CHECK(contains(error.next, "tfdata-doctor batch " + (directory / "all")));
}

TEST_CASE("where each trace is read by itself, a folder is every trace below it") {
  const TemporaryDirectory directory;
  const std::string old_run = directory.write("logs/plugins/profile/1/h.xplane.pb", "old", 1);
  const std::string new_run = directory.write("logs/plugins/profile/2/h.xplane.pb", "new", 2);
  const std::string loose = directory.write("logs/deep/er/x.trace.json", "loose");
  directory.write("none/notes.txt", "");
  const SeparateInputs all = resolve_separate_inputs({directory / "logs", old_run, directory / "none", "missing.pb"});
  CHECK(below(directory, all.files) ==
        Names{"logs/deep/er/x.trace.json", "logs/plugins/profile/1/h.xplane.pb", "logs/plugins/profile/2/h.xplane.pb"});
  REQUIRE(all.unreadable.size() == 2);
  CHECK(contains(all.unreadable[0].what, "holds no trace files"));
  CHECK(contains(all.unreadable[1].what, "no such file"));
  CHECK(resolve_inputs({directory / "logs"}, std::nullopt) == std::vector<std::string>{new_run});
}

TEST_CASE("paths of other storage get the command that pipes them, and a program the one that records it") {
  CHECK(refusal("hdfs://host/a b.pb").next == "pipe it: hdfs dfs -cat 'hdfs://host/a b.pb' | tfdata-doctor -");
  CHECK(refusal("https://host/y.pb").what == "is not a path of this machine");
  const TemporaryDirectory directory;
  const std::string program = directory.write("train.py", "import tensorflow");
  CHECK(refusal(program).what == "is a program, not a trace");
  CHECK(refusal(program).next == "record it with python -m tfdata_doctor " + program);
}

TEST_CASE("no recording is read twice, whatever it is called") {
  const TemporaryDirectory directory;
  const std::string trace = directory.write("a/h.xplane.pb", "trace of h");
  const std::string copy = directory.write("b/copy.xplane.pb", "trace of h");
  const std::string alike = directory.write("b/other.xplane.pb", "trace of i");
  const std::string poorer = directory.write("a/h.trace.json.gz", "the same run as JSON");
  const std::string first_step = directory.write("t/timeline_1.json", "step 1");
  const std::string second_step = directory.write("t/timeline_2.json", "step 2");
  const std::string link = directory / "link.xplane.pb";
  std::filesystem::create_symlink(trace, link);
  const std::vector<std::string> once = {trace, alike, first_step, second_step};
  const Result<std::vector<std::string>> found =
      resolve_inputs({second_step, poorer, link, copy, alike, trace, trace, first_step}, std::nullopt);
  REQUIRE(found);
  CHECK(*found == once);
  // The order in which they are named changes nothing.
  CHECK(resolve_inputs({trace, copy, first_step, link, poorer, second_step, alike}, std::nullopt) == once);
  // A file that is empty or missing keeps its error.
  const std::string empty = directory.write("empty.xplane.pb", "");
  const std::string hollow = directory.write("hollow.xplane.pb", "");
  CHECK(resolve_inputs({hollow, empty}, std::nullopt)->size() == 2);
}

TEST_CASE("folders that may not be read are passed over and mentioned") {
  const TemporaryDirectory directory;
  directory.write("secret/plugins/profile/run/h.xplane.pb", "");
  std::filesystem::permissions(directory / "secret", std::filesystem::perms::none);
  std::filesystem::permissions(directory.path(), std::filesystem::perms::all);
  constexpr uid_t kNobody = 65'534;
  const bool was_root = ::geteuid() == 0;  // root may read everything
  if (was_root && ::seteuid(kNobody) != 0) return;
  const Result<std::vector<std::string>> above = resolve_inputs({directory.path()}, std::nullopt);
  const Result<std::vector<std::string>> itself = resolve_inputs({directory / "secret"}, std::nullopt);
  if (was_root) REQUIRE(::seteuid(0) == 0);
  std::filesystem::permissions(directory / "secret", std::filesystem::perms::all);
  REQUIRE_FALSE(above);
  CHECK(contains(above.error().what, "folders that could not be read: 1"));
  REQUIRE_FALSE(itself);
  CHECK(itself.error().what == "permission denied");
}

}  // namespace
}  // namespace doctor::trace_inputs_test
