// Which recordings a path stands for where runs are compared.

#include <doctest/doctest.h>

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
