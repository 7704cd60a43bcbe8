// Traces in a tar archive: `batch --tar`.

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "batch/batch.h"
#include "built_paths.h"
#include "fleet/trace_row.h"
#include "run_tool.h"
#include "tar_archive.h"

namespace doctor::batch_archive_test {
namespace {

namespace fs = std::filesystem;

const std::string kTraces = source_dir() + "/testdata/traces/";

using Rows = std::vector<std::string>;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size(); begin = text.find('\n', begin) + 1) {
    lines.push_back(text.substr(begin, text.find('\n', begin) - begin));
  }
  return lines;
}

std::vector<std::string> paths_of(const std::string& rows) {
  std::vector<std::string> paths;
  for (const std::string& line : lines_of(rows)) {
    const Result<TraceRow> row = parse_row(line);
    REQUIRE(row.has_value());
    paths.push_back(row->file.path);
  }
  return paths;
}

/// Traces and other files of a folder, and the same in an archive.
struct Traces {
  TemporaryDirectory folder;
  std::vector<std::string> names;  ///< of members that get a row, in order
  std::string archive = member_of({.name = folder / "", .kind = '5'});

  void add(const std::string& name, const std::string& bytes, bool is_trace = true) {
    const std::string path = folder.write(name, bytes);
    archive += member_of({.name = "././@LongLink", .bytes = path + '\0', .kind = 'L'}) +
               member_of({.name = path.substr(0, 100), .bytes = bytes});
    if (is_trace) names.push_back(path);
  }

  Traces() {
    add("b/large.xplane.pb", read_whole_file(kTraces + "seed_example1.xplane.pb"));
    add("rank-0.json.gz", read_whole_file(kTraces + "healthy_tf2.4.trace.json.gz"));
    add("config.json", R"({"learning_rate": 0.1})", false);
    add("a/cut.xplane.pb", read_whole_file(kTraces + "cut_off_tf2.4.xplane.pb"));
    add("notes.txt", "x", false);
    add("a/empty.trace.json", "");
    add("a/full.xplane.pb", read_whole_file(kTraces + "cache_full_tf2.21.xplane.pb"));
  }

  Ended run(std::vector<std::string> options, bool is_cut = false) const {
    Tool tool;
    tool.input = is_cut ? archive.substr(0, archive.size() - 600) : archive + kTarEnd;
    options.insert(options.begin(), {"batch", "--tar", "-"});
    return tool.run(options);
  }
};

TEST_CASE("an archive has the rows of its files, in its order, whatever the number of workers") {
  const Traces traces;
  const Ended ended = traces.run({"-j", "1"});
  CHECK(ended.code == 2);
  CHECK(paths_of(ended.output) == traces.names);
  CHECK(ended.errors.find("passed over 2 files that are not traces: ") != std::string::npos);
  CHECK(ended.errors.find(traces.folder / "notes.txt") != std::string::npos);
  CHECK(traces.run({"-j", "3"}).output == ended.output);
  CHECK(traces.run({"-j", "3", "--no-sandbox"}).code == 2);
  Rows rows = lines_of(ended.output);
  Rows of_folder = lines_of(run_tool({"batch", traces.folder.path()}).output);
  std::ranges::sort(rows);
  std::ranges::sort(of_folder);
  CHECK(rows == of_folder);
  CHECK(traces.run({"--exit-zero", "-q"}).code == 0);
}

TEST_CASE("an archive that was cut off gives the rows before, and where it ends") {
  const Traces traces;
  const Ended ended = traces.run({"--exit-zero"}, true);
  CHECK(ended.code == 2);  // not all rows were written
  CHECK(paths_of(ended.output) == std::vector<std::string>(traces.names.begin(), traces.names.end() - 1));
  CHECK(ended.errors.find("standard input: ends in the middle of a member: it was cut off at byte ") !=
        std::string::npos);
  CHECK(ended.errors.find("the archive could not be read to its end") != std::string::npos);
  CHECK(traces.run({"-q"}, true).code == 2);
}

TEST_CASE("an archive is gone on with, and taken in parts") {
  const Traces traces;
  const std::string out = traces.folder / "rows";
  CHECK(traces.run({"-o", out, "-q"}, true).code == 2);
  const Ended resumed = traces.run({"-o", out, "--resume"});
  CHECK(resumed.errors.find("1 trace in") != std::string::npos);
  CHECK(resumed.errors.find("4 were there already") != std::string::npos);
  CHECK(paths_of(read_whole_file(out)) == traces.names);
  std::vector<std::string> parts;
  for (const char* part : {"1/2", "2/2"}) {
    const std::vector<std::string> paths = paths_of(traces.run({"--shard", part}).output);
    parts.insert(parts.end(), paths.begin(), paths.end());
  }
  std::ranges::sort(parts);
  std::vector<std::string> names = traces.names;
  std::ranges::sort(names);
  CHECK(parts == names);
}

TEST_CASE("nothing is left of an archive, and files are taken beside it") {
  const Traces traces;
  const EnvironmentVariable temporary("TMPDIR", traces.folder / "t");
  fs::create_directory(traces.folder / "t");
  const std::string file = traces.folder.write("one.tar", traces.archive + kTarEnd);
  const std::string trace = kTraces + "healthy_tf2.4.trace.json.gz";
  const std::vector<std::string> paths = paths_of(run_tool({"batch", trace, "--tar", file, "-j", "1"}).output);
  CHECK(paths.size() == traces.names.size() + 1);
  CHECK(paths.front() == trace);
  CHECK(fs::is_empty(traces.folder / "t"));
}

TEST_CASE("wrong usage of an archive") {
  CHECK(run_tool({"batch", "--tar", "/no/archive"}).errors.find("/no/archive: no such file") != std::string::npos);
  CHECK(run_tool({"batch", "-", "--tar", "-"}).errors.find("cannot be an archive and something else") !=
        std::string::npos);
  CHECK(run_tool({"batch", "--files-from", "-", "--tar", "-"}).errors.find("cannot be an archive") !=
        std::string::npos);
}

TEST_CASE("rows wait for those of the tasks before them") {
  RowOrder order;
  for (const char* task : {"a", "b", "c", "d"}) order.begin(task);
  CHECK(order.take("b", "row b").empty());
  CHECK(order.take("x", "of no archive") == Rows{"of no archive"});
  CHECK(order.take("a", "row a") == Rows{"row a", "row b"});
  CHECK(order.take("d", "row d").empty());
  CHECK(order.size() == 2);
  SUBCASE("a task that is tried again later holds up nothing") {
    CHECK(order.forget("c") == Rows{"row d"});
    CHECK(order.take("c", "row c") == Rows{"row c"});
  }
  SUBCASE("a task without a row holds up nothing either") {
    CHECK(order.take("c", "") == Rows{"row d"});
  }
  SUBCASE("what waits can be had") {
    CHECK(order.take_all() == Rows{"row d"});
    CHECK(order.size() == 0);
  }
}

}  // namespace
}  // namespace doctor::batch_archive_test
