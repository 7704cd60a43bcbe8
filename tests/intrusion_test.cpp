#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "built_paths.h"
#include "process/sandbox.h"
#include "run_tool.h"
#include "temporary_directory.h"

// From inside each command, at the moment when it may read the first byte of a trace: nothing beyond its own input and
// output can be reached (intruder.cpp has the attempts).

namespace doctor::intrusion_test {
namespace {

namespace fs = std::filesystem;

const std::string kTraces = source_dir() + "/testdata/traces/";

/// The variable is set for as long as this lives.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) { ::setenv(name, value.c_str(), 1); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { ::unsetenv(name_); }

 private:
  const char* name_;
};

TEST_CASE("whoever takes a command over has its input and its output, and nothing else") {
  const Sandbox sandbox = available_sandbox();
  if (sandbox.landlock == 0 || !sandbox.has_filter) {
    MESSAGE("not checked: " << sandbox.why_not);
    return;
  }
  const TemporaryDirectory folder;
  const std::string trace = folder.write("trace.xplane.pb", read_whole_file(kTraces + "seed_example1.xplane.pb"));
  fs::last_write_time(trace, fs::file_time_type::clock::now() - std::chrono::hours(1));  // it is whole
  const std::string other = kTraces + "guide_naive.xplane.pb";
  const std::string out = folder / "out";
  const std::string rows = folder / "rows.ndjson";
  REQUIRE(Tool().run({"batch", trace, "-o", rows, "--quiet"}).code <= 1);
  REQUIRE(Tool().run({"baseline", "add", folder / "baseline.json", other, "--quiet"}).code == 0);
  folder.write("secret", "secret");
  const std::vector<std::vector<std::string>> commands = {
      {trace},
      {trace, "-o", out},
      {trace, "-o", "json=" + out, "-o", "html=" + out + ".html"},
      {"show", "tree", trace},
      {"show", "ops", trace, "-o", out},
      {"show", "calls", trace},
      {"show", "timeline", trace},
      {"whatif", trace},
      {"checklist", trace},
      {"compare", other, "--", trace},
      {"compare", "--baseline", folder / "baseline.json", trace, "-o", out},
      {"convert", trace, "--format", "csv", "-o", out},
      {"fleet", rows},
      {"fleet", rows, "-o", out},
      {"baseline", "add", folder / "new.json", trace},
      {"baseline", "show", folder / "baseline.json"},
      {"baseline", "prune", folder / "baseline.json", "--keep", "0"},
      {"batch", trace},
      {"batch", trace, "-o", out},
      {"watch", "--once", folder.path()},
      {"watch", "--once", folder.path(), "-o", out},
      {"query", "--db", folder / "database", "SELECT 1", trace},
  };
  const Variable loaded("LD_PRELOAD", intruder_path());
  const Variable target("INTRUDER_FOLDER", folder.path());
  for (const std::vector<std::string>& command : commands) {
    const Ended ended = Tool().run(command);
    INFO(command.front() << " " << command.back() << ": " << ended.errors);
    const std::string said = ended.output + ended.errors + (fs::exists(out) ? read_whole_file(out) : "");
    // A worker of batch or watch reads the folders of its traces.
    const bool has_workers = command.front() == "batch" || command.front() == "watch";
    const std::string expected = has_workers ? "succeeded: read-neighbour" : "succeeded: none";
    CHECK(said.find("tried 29; " + expected) != std::string::npos);
    if (!has_workers) CHECK_FALSE(fs::exists(out));
    fs::remove(out);
  }
  CHECK(read_whole_file(folder / "secret") == "secret");
}

}  // namespace
}  // namespace doctor::intrusion_test
