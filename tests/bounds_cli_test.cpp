// What has an end although its input has none: time, pipes and devices, SQL; and files that are not ours to change.

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "built_paths.h"
#include "endless_pipe.h"
#include "fleet/trace_row.h"
#include "io/file_io.h"
#include "lib/trace/xspace/xspace.pb.h"
#include "run_tool.h"
#include "sanitizer.h"
#include "temporary_directory.h"
#include "unwrapped.h"

namespace doctor::bounds_cli_test {
namespace {

const std::string kTrace = source_dir() + "/testdata/traces/guide_naive.xplane.pb";

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string make_named_pipe(const TemporaryDirectory& folder) {
  std::string path = folder / "pipe";
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  return path;
}

std::vector<std::string> paths_in(const std::string& rows) {
  std::vector<std::string> paths;
  for (std::size_t begin = 0; begin < rows.size();) {
    const std::size_t end = rows.find('\n', begin);
    const Result<TraceRow> row = parse_row(std::string_view(rows).substr(begin, end - begin));
    REQUIRE(row);
    paths.push_back(row->file.path);
    begin = end + 1;
  }
  return paths;
}

}  // namespace

TEST_CASE("every command gives up after --timeout and says how far it came") {
  const EndlessPipe never;
  const Ended ended = run_tool({never.path(), "--timeout", "1"});
  CHECK(ended.code == 2);
  CHECK(ended.output.empty());
  CHECK(contains(ended.errors, "takes longer than --timeout 1 allows (opening /dev/fd/"));
  CHECK(contains(ended.errors, "allow more (0: no limit)"));
}

TEST_CASE("SQL that never ends is ended, and leaves no file") {
  const TemporaryDirectory folder;
  const std::string endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT max(x) FROM c";
  const Ended ended = run_tool({"query", endless, kTrace, "--timeout", "1", "-o", folder / "out"});
  CHECK(ended.code == 2);
  CHECK(contains(ended.errors, "SQL: takes longer than --timeout 1 allows"));
  CHECK_FALSE(std::filesystem::exists(folder / "out"));
}

// Each device took 18 KB: 80,000 of them, 6.6 MB, 1.2 GB.
TEST_CASE("a trace of thousands of devices needs little memory") {
  if (kHasSanitizer) return;  // see sanitizer.h
  xspace::XSpace space;
  for (int device = 0; device < 20'000; ++device) {
    xspace::XPlane& plane = *space.add_planes();
    plane.set_name("/device:GPU:" + std::to_string(device));
    (*plane.mutable_event_metadata())[1].set_name("kernel");
    xspace::XLine& line = *plane.add_lines();
    line.set_name("Stream #14(Compute)");
    xspace::XEvent& event = *line.add_events();
    event.set_metadata_id(1);
    event.set_duration_ps(1'000'000);
  }
  const TemporaryDirectory folder;
  const std::string path = folder.write("devices.xplane.pb", space.SerializeAsString());
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{path},
                                             {path, "--format", "html"},
                                             {"show", "steps", path},
                                             {"query", "SELECT count(*) FROM events", path}}) {
    std::vector<std::string> bounded = command;
    bounded.insert(bounded.end(), {"--max-memory", "96M"});
    const Ended ended = run_tool(bounded);
    INFO(command[0] << ": " << ended.errors);
    CHECK(ended.code != 2);
  }
  CHECK(contains(unwrapped(run_tool({path}).output), "has too many planes to be read whole"));
}

TEST_CASE("a named pipe or a device is no trace and takes no report") {
  const TemporaryDirectory folder;
  const std::string pipe = make_named_pipe(folder);
  for (const std::string& path : {pipe, std::string("/dev/zero")}) {
    const Ended read = run_tool({path});
    CHECK(read.code == 2);
    CHECK(contains(read.errors, "which may never end"));
    CHECK(contains(read.errors, "name it as standard input: - < " + path));
    const std::vector<std::vector<std::string>> others = {{"batch", "--files-from", path},
                                                          {"baseline", "show", path},
                                                          {"baseline", "add", path, kTrace},
                                                          {"compare", "--baseline", path, kTrace},
                                                          {kTrace, "--config", path}};
    for (const std::vector<std::string>& arguments : others) {
      CAPTURE(arguments.front());
      const Ended ended = run_tool(arguments);
      CHECK(ended.code == 2);
      CHECK(contains(ended.errors, "which may never end"));
    }
    const Ended row = run_tool({"batch", path});
    CHECK(row.code == 2);
    CHECK(contains(row.output, "which may never end"));
  }
  const Ended written = run_tool({kTrace, "-o", pipe});
  CHECK(written.code == 2);
  CHECK(contains(written.errors, "write to standard output: -o - > "));
  CHECK(run_tool({"batch", kTrace, "-o", pipe, "--resume"}).code == 2);
}

TEST_CASE("what is open already, and the device that takes anything, are written to") {
  CHECK(run_tool({kTrace, "-o", "/dev/null"}).code == 1);
  const Ended ended = run_tool({kTrace, "-o", "/dev/stdout"});
  CHECK(ended.code == 1);
  CHECK(ended.output == run_tool({kTrace}).output);
  Tool tool;
  tool.input = read_whole_file(kTrace);
  CHECK(tool.run({"/dev/stdin"}).code == 1);
}

TEST_CASE("a link that leads back to itself is not replaced") {
  const TemporaryDirectory folder;
  std::filesystem::create_symlink("link", folder / "link");
  const Ended ended = run_tool({kTrace, "-o", folder / "link"});
  CHECK(ended.code == 2);
  CHECK(contains(ended.errors, "Too many levels of symbolic links"));
  CHECK(std::filesystem::is_symlink(folder / "link"));
}

TEST_CASE("a link that leads nowhere gets its target") {
  const TemporaryDirectory folder;
  std::filesystem::create_symlink("target", folder / "link");
  CHECK(run_tool({kTrace, "-o", folder / "link"}).code == 1);
  CHECK(std::filesystem::is_symlink(folder / "link"));
  CHECK(read_whole_file(folder / "target").starts_with("INPUT-BOUND"));
}

TEST_CASE("rows are never appended to a file that holds something else") {
  const TemporaryDirectory folder;
  for (const std::string text : {"precious\n", "precious", "{\"a\":1}\n"}) {
    CAPTURE(text);
    const std::string file = folder.write("precious.txt", text);
    const Ended ended = run_tool({"batch", kTrace, "-o", file, "--resume"});
    CHECK(ended.code == 2);
    CHECK(contains(ended.errors, "holds no row of batch"));
    CHECK(read_whole_file(file) == text);
  }
  const std::string cut = folder.write("cut.ndjson", "{\"schema\":\"tfdata-doc");
  CHECK(run_tool({"batch", kTrace, "-o", cut, "--resume"}).code == 1);
  CHECK(paths_in(read_whole_file(cut)).size() == 1);
}

TEST_CASE("paths that are not UTF-8 are resumed, and lists may end paths with a zero byte") {
  const TemporaryDirectory folder;
  const std::string bytes = read_whole_file(kTrace);
  const std::string first = folder.write("a\xff.xplane.pb", bytes);
  const std::string second = folder.write("a\nb.xplane.pb", bytes);
  const std::string list = folder.write("list", first + '\0' + second + '\0');
  const std::string rows = folder / "rows.ndjson";
  CHECK(run_tool({"batch", "--files-from", list, "-0", "-o", rows}).code == 1);
  CHECK(paths_in(read_whole_file(rows)).size() == 2);
  const Ended resumed = run_tool({"batch", "--files-from", list, "--null", "-o", rows, "--resume"});
  CHECK(contains(resumed.errors, "2 were there already"));
  CHECK(paths_in(read_whole_file(rows)).size() == 2);
  CHECK(run_tool({"batch", kTrace, "-0"}).code == 2);
}

TEST_CASE("a list with a line that has no end is not read to its end") {
  const TemporaryDirectory folder;
  const std::string list = folder.write("list", kTrace + "\n" + std::string(1 << 17, 'a') + "\n" + kTrace + "2\n");
  const Ended ended = run_tool({"batch", "--files-from", list});
  CHECK(ended.code == 2);
  CHECK(paths_in(ended.output) == std::vector<std::string>{kTrace});
  CHECK(contains(ended.errors, list + ": is not a list of paths"));
}

TEST_CASE("a link in a directory that leads nowhere has a row") {
  const TemporaryDirectory folder;
  std::filesystem::create_symlink("gone", folder / "dead.xplane.pb");
  folder.write("other", "");
  const Ended ended = run_tool({"batch", folder.path()});
  CHECK(ended.code == 2);
  REQUIRE(paths_in(ended.output) == std::vector<std::string>{folder / "dead.xplane.pb"});
  CHECK(contains(ended.output, "no such file"));
}

TEST_CASE("SQL may call the functions that only compute") {
  const auto ask = [](const std::string& expression) { return run_tool({"query", "SELECT " + expression, kTrace}); };
  for (const char* refused : {"fts3_tokenizer('simple', x'4141414141414141')", "hex(fts3_tokenizer('simple'))",
                              "load_extension('x')", "sqlite_compileoption_get(1)"}) {
    CAPTURE(refused);
    const Ended ended = ask(refused);
    CHECK(ended.code == 2);
    CHECK(contains(ended.errors, "is not one that may be called"));
  }
  for (const char* allowed : {"printf('%d', 7)", "json_extract('{\"a\":7}', '$.a')", "'[7]' ->> 0", "Max(7, 1)",
                              "substr('xx7', 3)", "iif(1, 7, 0)", "count(*) + 6", "sum(7) OVER ()"}) {
    CAPTURE(allowed);
    const Ended ended = ask(allowed);
    CHECK(ended.code == 0);
    CHECK(contains(ended.output, "7"));
  }
}

TEST_CASE("no text is a command for a CI runner that reads standard output") {
  const EnvironmentVariable github("GITHUB_ACTIONS", "true");
  const std::string sql = "SELECT '::error::planted' AS a, 'b ##[error]c' AS b";
  for (const char* format : {"text", "csv", "markdown", "json"}) {
    CAPTURE(format);
    const Ended ended = run_tool({"query", sql, kTrace, "--format", format});
    CHECK(ended.code == 0);
    CHECK_FALSE(contains(ended.output, "\n::"));
    CHECK_FALSE(contains(ended.output, "##["));
  }
  const TemporaryDirectory folder;
  CHECK(run_tool({"query", sql, kTrace, "--format", "csv", "-o", folder / "rows.csv"}).code == 0);
  CHECK(contains(read_whole_file(folder / "rows.csv"), "\n::error::planted,b ##[error]c"));
  const std::string named = R"({"traceEvents":[{"ph":"X","pid":1,"tid":1,"ts":1,"dur":1,"name":"##[error]x"},{}]})";
  const std::string trace = folder.write("a.trace.json", named);
  for (const char* format : {"csv", "ndjson", "chrome"}) {
    CHECK_FALSE(contains(run_tool({"convert", "--format", format, trace}).output, "##["));
  }
}

TEST_CASE("no name is a command for a CI runner, in messages and in the pages of stored rows") {
  const EnvironmentVariable github("GITHUB_ACTIONS", "true");
  const Ended missing = run_tool({"./none ##[error]a"});
  CHECK(missing.code == 2);
  CHECK(contains(missing.errors, "./none ##\\x5berror]a"));
  const TemporaryDirectory folder;
  std::string row = run_tool({"batch", kTrace}).output;
  const std::string culprit = "\"culprit_dataset\":\"";
  row.insert(row.find(culprit) + culprit.size(), "##[error]");
  const std::string rows = folder.write("rows.ndjson", row);
  for (const char* format : {"text", "csv", "html", "json"}) {
    CAPTURE(format);
    const Ended ended = run_tool({"fleet", rows, "--format", format});
    CHECK(ended.code == 0);
    CHECK(contains(ended.output, "5berror]"));
    CHECK_FALSE(contains(ended.output, "##["));
  }
}

TEST_CASE("a line that is not a row is passed over, in query as in fleet") {
  const TemporaryDirectory folder;
  const std::string row = run_tool({"batch", kTrace}).output;
  std::string broken = row;
  broken.replace(broken.find("guide_naive"), 5, "\\ud800");
  const std::string rows = folder.write("rows.ndjson", row + broken);
  const Ended asked = run_tool({"query", "SELECT path FROM files", rows, "--format", "csv"});
  CHECK(asked.code == 0);
  CHECK(contains(asked.output, "guide_naive"));
  CHECK(contains(asked.errors, "line 2: is not a row"));
  CHECK(run_tool({"fleet", rows}).code == 0);
  CHECK(run_tool({"query", "SELECT 1", folder.write("none.ndjson", broken)}).code == 2);
}

TEST_CASE("rows begin where they begin: query takes a file whose first lines are none, as fleet does") {
  const TemporaryDirectory folder;
  const std::string row = run_tool({"batch", kTrace}).output;
  const auto paths_in = [&](const std::string& content) {
    const std::string rows = folder.write("rows.ndjson", content);
    CHECK(run_tool({"fleet", rows}).code == 0);
    return run_tool({"query", "SELECT path FROM files", rows, "--format", "csv"});
  };
  for (const std::string& above : {row.substr(row.size() / 2), std::string("# rows of January\n"),
                                   std::string("{\"schema\":\"another/1\"}\n"), std::string(3 << 20, 'x') + "\n"}) {
    const Ended asked = paths_in(above + row);
    CHECK(asked.code == 0);
    CHECK(contains(asked.output, "guide_naive"));
    CHECK(contains(asked.errors, "line 1: is not a row"));
  }
  const Ended blank = paths_in("\n \r\n" + row + "\n");
  CHECK(blank.code == 0);
  CHECK_FALSE(contains(blank.errors, "is not a row"));
  const Ended none = run_tool({"query", "SELECT 1", folder.write("none.ndjson", "# rows of January\n")});
  CHECK(none.code == 2);
  CHECK(contains(none.errors, "none.ndjson"));
}

TEST_CASE("the report says whose settings count") {
  const TemporaryDirectory folder;
  const std::string config = folder.write("settings.toml",
                                          "fail-on = \"never\"\n[[suppress]]\nrule = \"slow-source\"\n"
                                          "reason = \"known\"\n");
  const std::string note = config + ": fail-on never, 1 suppression";
  CHECK(contains(run_tool({kTrace, "--config", config}).output, "settings  " + note));
  CHECK(contains(run_tool({kTrace, "--config", config, "-q"}).output, "settings  " + note));
  CHECK(contains(run_tool({kTrace, "--config", config, "--format", "github"}).output,
                 "::notice title=tfdata-doctor set"));
  CHECK(contains(run_tool({kTrace, "--config", config, "--format", "markdown"}).output, "Settings: "));
  const auto document = [&](const char* format) {
    return nlohmann::json::parse(run_tool({kTrace, "--config", config, "--format", format}).output);
  };
  CHECK(document("json")["settings_note"] == note);
  const nlohmann::json notification =
      document("sarif")["runs"][0]["invocations"][0]["toolConfigurationNotifications"][0];
  CHECK(notification["level"] == "note");
  CHECK(notification["message"]["text"] == "Settings: " + note);
  CHECK(contains(run_tool({kTrace, "--config", config, "--format", "junit"}).output,
                 "<property name=\"settings\" value=\"" + note + "\"/>"));
  CHECK_FALSE(contains(run_tool({kTrace, "--no-config", "--format", "json"}).output, "settings_note"));
  CHECK_FALSE(
      contains(run_tool({kTrace, "--no-config", "--format", "sarif"}).output, "toolConfigurationNotifications"));
  CHECK_FALSE(contains(run_tool({kTrace, "--no-config", "--format", "junit"}).output, "<property name=\"settings\""));
  CHECK_FALSE(contains(run_tool({kTrace, "--no-config"}).output, "settings  "));
  CHECK_FALSE(contains(run_tool({kTrace, "--config", folder.write("empty.toml", "")}).output, "settings  "));
}

TEST_CASE("a full disk is not something that cannot be read") {
  CHECK(path_error("b.json.new", ENOSPC).what.starts_with("cannot be written: No space left"));
  CHECK(path_error("b.json.new", EROFS).what.starts_with("cannot be written: "));
  CHECK(path_error("b.json", EIO).what.starts_with("cannot be read: "));
}

}  // namespace doctor::bounds_cli_test
