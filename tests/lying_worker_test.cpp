#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "built_paths.h"
#include "fleet/trace_row.h"
#include "run_tool.h"
#include "temporary_directory.h"

// A worker that a trace has taken over: what it answers is about its own trace alone, or it has crashed
// (lying_worker.cpp has the lies).

namespace doctor::lying_worker_test {
namespace {

namespace fs = std::filesystem;

class Batch {
 public:
  Batch() {
    const std::string traces = source_dir() + "/testdata/traces/";
    for (const char* name : {"seed_example1.xplane.pb", "guide_naive.xplane.pb"}) {
      paths_.insert(folder_.write("traces/" + std::string(name), read_whole_file(traces + name)));
    }
    for (const std::string& path : paths_) {
      fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(1));  // it is whole
    }
    other_ = folder_.write("other/trace.xplane.pb", read_whole_file(traces + "seed_example1.xplane.pb"));
  }

  Ended run(const std::string& command, const std::string& lie) const {
    fs::remove(rows_path());
    const EnvironmentVariable loaded("LD_PRELOAD", lying_worker_path());
    const EnvironmentVariable kind("LIE", lie);
    const EnvironmentVariable path("LIE_PATH", other_);
    std::vector<std::string> arguments = {command, folder_ / "traces", "-o", rows_path(), "--jobs", "1"};
    if (command == "watch") arguments.emplace_back("--once");
    return Tool().run(arguments);
  }

  /// Each trace has its own row, with what is true of the file.
  std::vector<TraceRow> rows() const {
    std::vector<TraceRow> rows;
    std::set<std::string> found;
    std::ifstream file(rows_path());
    for (std::string line; std::getline(file, line);) {
      Result<TraceRow> row = parse_row(line);
      REQUIRE(row);
      found.insert(row->file.path);
      CHECK(row->file.bytes == fs::file_size(row->file.path));
      CHECK(row->file.sha256 == sha256_of_file(row->file.path).value());
      rows.push_back(*std::move(row));
    }
    CHECK(rows.size() == paths_.size());
    CHECK(found == paths_);
    return rows;
  }

 private:
  std::string rows_path() const { return folder_ / "rows.ndjson"; }

  TemporaryDirectory folder_;
  std::set<std::string> paths_;
  std::string other_;
};

TEST_CASE("whatever is wrong with an answer makes its worker one that crashed") {
  const Batch batch;
  for (const char* lie : {"nothing", "length", "status", "exit-status", "other-status", "no-row", "no-json",
                          "half-a-line", "two-rows", "budget", "beside", "pair", "endless"}) {
    for (const char* command : {"batch", "watch"}) {
      CAPTURE(lie);
      CAPTURE(command);
      const Ended ended = batch.run(command, lie);
      CHECK(ended.code == 2);
      CHECK(ended.errors.find("2 crashed") != std::string::npos);
      for (const TraceRow& row : batch.rows()) {
        CHECK(row.error.ends_with("; please report it"));
        CHECK(row.verdict.empty());
      }
    }
  }
}

TEST_CASE("what a worker says of the file itself is not heard") {
  const Batch batch;
  for (const char* lie : {"none", "file"}) {
    CAPTURE(lie);
    CHECK(batch.run("batch", lie).code <= 1);
    for (const TraceRow& row : batch.rows()) CHECK_FALSE(row.verdict.empty());
  }
}

TEST_CASE("a worker that answers twice forges no row of another file") {
  const Batch batch;
  CHECK(batch.run("batch", "twice").code <= 2);
  batch.rows();
}

}  // namespace
}  // namespace doctor::lying_worker_test
