// Which recordings a path stands for where runs are compared.

#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "io/trace_inputs.h"
#include "temporary_directory.h"

namespace doctor::recordings_test {
namespace {

/// "name: file file", paths below the directory.
std::vector<std::string> recordings_at(const TemporaryDirectory& directory, const std::string& path) {
  const Result<std::vector<Run>> recordings = list_recordings(path);
  if (!recordings) FAIL(to_string(recordings.error()));
  std::vector<std::string> texts;
  for (const Run& recording : *recordings) {
    std::string text = recording.name + ":";
    for (const std::string& file : recording.files) {
      text += ' ' + std::filesystem::relative(file, directory.path()).string();
    }
    texts.push_back(text);
  }
  return texts;
}

TEST_CASE("folders and what they stand for") {
  struct Case {
    const char* name;
    std::vector<std::string> files;
    std::string folder;
    std::vector<std::string> recordings;
  };
  for (const Case& one : std::vector<Case>{
           {"a run of two hosts",
            {"log/plugins/profile/2026_01_01/a.xplane.pb", "log/plugins/profile/2026_01_01/b.xplane.pb"},
            "log/plugins/profile/2026_01_01",
            {"2026_01_01: log/plugins/profile/2026_01_01/a.xplane.pb log/plugins/profile/2026_01_01/b.xplane.pb"}},
           {"a log directory of two runs",
            {"log/plugins/profile/2/h.xplane.pb", "log/plugins/profile/1/h.xplane.pb"},
            "log",
            {"1: log/plugins/profile/1/h.xplane.pb", "2: log/plugins/profile/2/h.xplane.pb"}},
           {"files, each a recording",
            {"main/3.xplane.pb", "main/1.xplane.pb", "main/2.trace.json.gz", "main/notes.txt"},
            "main",
            {"1.xplane.pb: main/1.xplane.pb", "2.trace.json.gz: main/2.trace.json.gz",
             "3.xplane.pb: main/3.xplane.pb"}},
           {"one recording in two formats",
            {"main/h.xplane.pb", "main/h.trace.json.gz"},
            "main",
            {"h.xplane.pb: main/h.xplane.pb"}},
           {"folders, each a recording",
            {"main/b/h.xplane.pb", "main/a/h1.xplane.pb", "main/a/h2.xplane.pb", "main/empty/notes.txt"},
            "main",
            {"a: main/a/h1.xplane.pb main/a/h2.xplane.pb", "b: main/b/h.xplane.pb"}},
           {"a recording of two hosts that scripts/record made",
            {"main/run_000/a.xplane.pb", "main/run_000/b.xplane.pb", "main/run_000/recording.json"},
            "main/run_000",
            {"run_000: main/run_000/a.xplane.pb main/run_000/b.xplane.pb"}},
           {"a folder of them, in another one",
            {"out/main/run_001/h.xplane.pb", "out/main/run_000/h.xplane.pb"},
            "out",
            {"run_000: out/main/run_000/h.xplane.pb", "run_001: out/main/run_001/h.xplane.pb"}},
           {"log directories in a folder",
            {"main/r2/plugins/profile/x/h.xplane.pb", "main/r1/plugins/profile/y/h.xplane.pb"},
            "main",
            {"y: main/r1/plugins/profile/y/h.xplane.pb", "x: main/r2/plugins/profile/x/h.xplane.pb"}},
       }) {
    CAPTURE(one.name);
    const TemporaryDirectory directory;
    for (const std::string& file : one.files) directory.write(file, "x");
    CHECK(recordings_at(directory, directory / one.folder) == one.recordings);
  }
}

TEST_CASE("recordings of several versions are never taken for one") {
  const TemporaryDirectory directory;
  for (const char* const file : {"out/base/run_000/h.xplane.pb", "out/candidate/run_000/h.xplane.pb"}) {
    directory.write(file, "x");
  }
  const std::string expected = "holds recordings of several versions";
  const Result<std::vector<Run>> recordings = list_recordings(directory / "out");
  REQUIRE_FALSE(recordings);
  CHECK(recordings.error().what.starts_with(expected));
  const Result<std::vector<std::string>> traces = resolve_inputs({directory / "out"}, {});
  REQUIRE_FALSE(traces);
  CHECK(to_string(traces.error()).find("tfdata-doctor compare ") != std::string::npos);
}

TEST_CASE("a folder of recordings stands for the newest, or the one that is named, as a log directory does") {
  const TemporaryDirectory directory;
  const std::string first = directory.write("main/run_000/h.xplane.pb", "x");
  const std::string second = directory.write("main/run_001/h.xplane.pb", "x");
  std::filesystem::last_write_time(first, std::filesystem::last_write_time(second) - std::chrono::hours(1));
  CHECK(resolve_inputs({directory / "main"}, {}) == std::vector<std::string>{second});
  CHECK(resolve_inputs({directory / "main"}, "run_000") == std::vector<std::string>{first});
  CHECK(resolve_inputs({directory / "main/run_000"}, {}) == std::vector<std::string>{first});
  const Result<std::vector<Run>> runs = list_runs(directory / "main");
  REQUIRE(runs);
  CHECK(runs->size() == 2);
}

TEST_CASE("a file, the standard input, and what is not there") {
  const TemporaryDirectory directory;
  const std::string file = directory.write("a.bin", "x");
  CHECK(recordings_at(directory, file) == std::vector<std::string>{file + ": a.bin"});
  const Result<std::vector<Run>> input = list_recordings("-");
  REQUIRE(input);
  CHECK(input->front().files == std::vector<std::string>{"-"});
  CHECK_FALSE(list_recordings(directory / "none"));
  directory.write("empty/notes.txt", "x");
  const Result<std::vector<Run>> empty = list_recordings(directory / "empty");
  REQUIRE_FALSE(empty);
  CHECK(to_string(empty.error()).find("holds no trace files") != std::string::npos);
}

}  // namespace

}  // namespace doctor::recordings_test
