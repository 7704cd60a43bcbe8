// Many traces, a row each: the command `batch` as a user types it.

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "built_paths.h"
#include "endless_pipe.h"
#include "fleet/trace_row.h"
#include "process/sandbox.h"
#include "run_tool.h"
#include "sanitizer.h"

namespace doctor::batch_cli_test {
namespace {

namespace fs = std::filesystem;

const std::string kTraces = source_dir() + "/testdata/traces/";

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  CHECK_MESSAGE(begin == text.size(), "the last line has no end");
  return lines;
}

std::multiset<std::string> row_set(const std::string& text) {
  const std::vector<std::string> lines = lines_of(text);
  return {lines.begin(), lines.end()};
}

TraceRow parsed(const std::string& line) {
  const Result<TraceRow> row = parse_row(line);
  if (!row) FAIL(to_string(row.error()));
  return *row;
}

/// Real traces in folders, copied `times` times, and some that are none.
class Store {
 public:
  explicit Store(int times) {
    const std::vector<std::string> names = {"cache_full_tf2.21.xplane.pb", "no_tf_data_tf2.4.xplane.pb",
                                            "healthy_tf2.4.trace.json.gz", "cut_off_tf2.4.xplane.pb"};
    for (int copy = 0; copy < times; ++copy) {
      for (const std::string& name : names) {
        const std::string path = folder / ("job" + std::to_string(copy) + "/" + name);
        fs::create_directories(fs::path(path).parent_path());
        fs::copy_file(kTraces + name, path);
      }
      const std::string whole = read_whole_file(kTraces + names[2]);
      const std::string prefix = "job" + std::to_string(copy) + "/broken/";
      folder.write(prefix + "cut.trace.json.gz", whole.substr(0, whole.size() / 2));
      folder.write(prefix + "empty.xplane.pb", "");
      folder.write(prefix + "noise.trace.json", "this is no trace\n");
    }
  }

  static constexpr std::size_t kFiles = 7;

  TemporaryDirectory folder;
};

TEST_CASE("every trace has a row, broken ones too") {
  const Store store(2);
  const Ended ended = run_tool({"batch", store.folder.path()});
  CHECK(ended.code == 2);
  CHECK(contains(ended.errors, "14 traces in"));
  const std::vector<std::string> lines = lines_of(ended.output);
  CHECK(lines.size() == 2 * Store::kFiles);
  std::set<std::string> paths;
  for (const std::string& line : lines) {
    const TraceRow row = parsed(line);
    paths.insert(row.file.path);
    CHECK(row.file.bytes == fs::file_size(row.file.path));
    CHECK(row.file.sha256.size() == 64);
    CHECK(row.tool_version == DOCTOR_VERSION);
    const bool is_noise = contains(row.file.path, "noise") || contains(row.file.path, "empty");
    CHECK_MESSAGE(row.error.empty() == !is_noise, line);
    CHECK_MESSAGE(row.verdict.empty() == is_noise, line);
    if (contains(row.file.path, "healthy")) CHECK(row.verdict == "healthy");
    if (contains(row.file.path, "cut.trace")) CHECK_FALSE(row.is_complete);
  }
  CHECK(paths.size() == lines.size());
  CHECK(run_tool({"batch", store.folder.path(), "--exit-zero"}).code == 0);
}

TEST_CASE("a file in a directory is a trace if its content is, whatever its name says") {
  const TemporaryDirectory folder;
  fs::copy_file(kTraces + "healthy_tf2.4.trace.json.gz", folder / "rank-0.json.gz");
  const std::string other = folder.write("config.json", R"({"learning_rate": 0.1})");
  folder.write("notes.txt", "x");
  const Ended ended = run_tool({"batch", folder.path()});
  CHECK(ended.code == 0);
  const std::vector<std::string> lines = lines_of(ended.output);
  REQUIRE(lines.size() == 1);
  CHECK(contains(parsed(lines[0]).file.path, "rank-0.json.gz"));
  CHECK(contains(ended.errors, "passed over 2 files that are not traces: "));
  CHECK(contains(ended.errors, "config.json"));
  // What the user names has a row.
  const Ended named = run_tool({"batch", other});
  CHECK(named.code == 2);
  CHECK(lines_of(named.output).size() == 1);
}

TEST_CASE("the exit code is that of the worst trace") {
  CHECK(run_tool({"batch", kTraces + "healthy_tf2.4.trace.json.gz"}).code == 0);
  CHECK(run_tool({"batch", kTraces + "healthy_tf2.4.trace.json.gz", kTraces + "cache_filling_tf2.21.xplane.pb"}).code ==
        1);
  CHECK(run_tool({"batch", kTraces + "cache_filling_tf2.21.xplane.pb", "--fail-on", "never"}).code == 0);
  CHECK(run_tool({"batch", kTraces + "no_tf_data_tf2.4.xplane.pb"}).code == 3);
  CHECK(run_tool({"batch", kTraces + "no-such-trace"}).code == 2);
  CHECK(run_tool({"batch", kTraces + "no-such-trace", "--exit-zero"}).code == 0);
}

TEST_CASE("a budget is held against each trace, and named where it is exceeded") {
  const std::string healthy = kTraces + "healthy_tf2.4.trace.json.gz";
  const std::string bound = kTraces + "cache_filling_tf2.21.xplane.pb";
  const Ended met = run_tool({"batch", healthy, "--max-input-share", "0.9"});
  CHECK(met.code == 0);
  CHECK_FALSE(contains(met.errors, "budget"));
  const Ended exceeded = run_tool({"batch", healthy, bound, "--fail-on", "never", "--max-input-share", "50%"});
  CHECK(exceeded.code == 1);
  CHECK(contains(exceeded.errors, "cache_filling_tf2.21.xplane.pb: budget: max_input_share"));
  CHECK_FALSE(contains(exceeded.errors, "healthy_tf2.4.trace.json.gz: budget"));
  CHECK(run_tool({"batch", bound, "--fail-on", "never", "--max-input-share", "0.5", "--exit-zero"}).code == 0);
  // One that could be evaluated on no pipeline is no pass.
  const Ended open = run_tool({"batch", healthy, "--max-get-next-p95", "*::NoSuchDataset=5"});
  CHECK(open.code == 3);
  CHECK(contains(open.errors, "budget: max_get_next_p95_us"));
  CHECK_FALSE(
      contains(run_tool({"batch", "-q", healthy, "--max-get-next-p95", "*::NoSuchDataset=5"}).errors, "budget"));
  // Of the configuration, too.
  const TemporaryDirectory folder;
  const std::string config = folder.write("doctor.toml", "[budgets]\nmax_input_share = 0.5\n");
  CHECK(run_tool({"batch", bound, "--fail-on", "never", "--config", config}).code == 1);
}

TEST_CASE("rows are the same whatever the number of workers, and shards make up the whole") {
  const Store store(3);
  const std::string folder = store.folder.path();
  const std::multiset<std::string> whole = row_set(run_tool({"batch", folder, "--jobs", "1"}).output);
  CHECK(whole.size() == 3 * Store::kFiles);
  CHECK(row_set(run_tool({"batch", folder, "-j", "3"}).output) == whole);
  std::multiset<std::string> parts;
  for (const char* part : {"1/3", "2/3", "3/3"}) {
    const std::multiset<std::string> rows = row_set(run_tool({"batch", folder, "--shard", part}).output);
    CHECK(rows.size() < whole.size());
    parts.insert(rows.begin(), rows.end());
  }
  CHECK(parts == whole);
}

TEST_CASE("a list of files, and a trace on standard input") {
  const TemporaryDirectory folder;
  const std::string trace = kTraces + "healthy_tf2.4.trace.json.gz";
  const std::string list = folder.write("list", trace + "\n" + kTraces + "cache_full_tf2.21.xplane.pb\n");
  const std::multiset<std::string> rows = row_set(run_tool({"batch", "--files-from", list}).output);
  CHECK(rows.size() == 2);
  Tool tool;
  tool.input = read_whole_file(list);
  tool.pipes_input = true;
  CHECK(row_set(tool.run({"batch", "--files-from", "-"}).output) == rows);

  tool.input = read_whole_file(trace);
  tool.pipes_input = false;
  CHECK(rows.contains(lines_of(tool.run({"batch", "-", "--name", trace}).output).front()));
  tool.input = read_whole_file(kTraces + "empty.xplane.pb");
  tool.pipes_input = true;
  const std::string named = tool.run({"batch", "-"}).output;
  CHECK(parsed(lines_of(named).front()).file.path == "-");
  tool.input = read_whole_file(kTraces + "guide_naive.xplane.pb");
  const TraceRow piped = parsed(lines_of(tool.run({"batch", "/dev/stdin"}).output).front());
  CHECK(piped.verdict == "input_bound");
  CHECK(piped.file.sha256.empty());
  tool.input = "this is no trace";
  const Ended noise = tool.run({"batch", "-", "--name", "gs://bucket/x"});
  const TraceRow unread = parsed(lines_of(noise.output).front());
  CHECK(unread.file.path == "gs://bucket/x");
  CHECK_FALSE(unread.error.empty());
  CHECK_FALSE(contains(noise.output, "/proc/"));
}

TEST_CASE("resuming leaves out what has a row, and mends a line that was cut off") {
  const Store store(2);
  const std::string out = store.folder / "rows.ndjson";
  const std::string traces = store.folder / "job0";
  CHECK(run_tool({"batch", traces, "-o", out}).code == 2);
  const std::string first = read_whole_file(out);
  CHECK(lines_of(first).size() == Store::kFiles);

  const Ended again = run_tool({"batch", traces, "-o", out});
  CHECK(again.code == 2);
  CHECK(contains(again.errors, "is there already; --resume goes on with it"));
  CHECK(read_whole_file(out) == first);

  store.folder.write("rows.ndjson", first.substr(0, first.size() - 100));
  const Ended resumed = run_tool({"batch", traces, store.folder / "job1", "-o", out, "--resume"});
  CHECK(contains(resumed.errors, "6 were there already"));
  const std::multiset<std::string> rows = row_set(read_whole_file(out));
  CHECK(rows.size() == 2 * Store::kFiles);
  CHECK(rows == row_set(run_tool({"batch", traces, store.folder / "job1"}).output));
  CHECK(contains(run_tool({"batch", traces, "-o", out, "--resume"}).errors, "0 traces in"));

  store.folder.write("rows.ndjson", "not a row\n" + first);
  const Ended strange = run_tool({"batch", traces, "-o", out, "--resume"});
  CHECK(contains(strange.errors, "left 1 line unchanged"));
  CHECK(read_whole_file(out) == "not a row\n" + first);
}

/// Starts a batch and sends it a signal when so many rows are in the file.
Ended end_in_the_middle(const std::vector<std::string>& traces, const std::string& out, std::size_t rows, int signal) {
  const TemporaryDirectory folder;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 2, (folder / "errors").c_str(), O_WRONLY | O_CREAT, 0600);
  std::vector<std::string> owned = {tool_path(), "batch", "-o", out, "--resume", "-q"};
  owned.insert(owned.end(), traces.begin(), traces.end());
  std::vector<char*> values;
  values.reserve(owned.size() + 1);
  for (std::string& value : owned) values.push_back(value.data());
  values.push_back(nullptr);
  pid_t process = 0;
  REQUIRE(::posix_spawn(&process, tool_path().c_str(), &actions, nullptr, values.data(), environ) == 0);
  posix_spawn_file_actions_destroy(&actions);
  const auto count = [&] {
    const std::string text = read_whole_file(out);
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  };
  int status = 0;
  pid_t ended = 0;
  while (count() < rows && (ended = ::waitpid(process, &status, WNOHANG)) == 0) ::sched_yield();
  ::kill(process, signal);
  if (ended == 0) ::waitpid(process, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), {}, read_whole_file(folder / "errors")};
}

TEST_CASE("a batch that is killed leaves whole rows, and goes on from there") {
  const Store store(6);
  const std::string out = store.folder / "rows.ndjson";
  const std::string traces = store.folder.path();
  for (const std::size_t rows : {3U, 15U, 30U}) {
    end_in_the_middle({traces}, out, rows, SIGKILL);
    for (const std::string& line : lines_of(read_whole_file(out))) CHECK(parse_row(line));
  }
  run_tool({"batch", traces, "-o", out, "--resume"});
  CHECK(row_set(read_whole_file(out)) == row_set(run_tool({"batch", traces}).output));
}

TEST_CASE("a batch that is interrupted says how many rows are written, and how to go on") {
  const Store store(6);
  const std::string out = store.folder / "rows.ndjson";
  const EndlessPipe never;  // so that there is a middle, however fast the others are
  const Ended ended = end_in_the_middle({store.folder.path(), never.path()}, out, 3, SIGINT);
  CHECK(ended.code == -SIGINT);
  const std::size_t rows = lines_of(read_whole_file(out)).size();
  CHECK(ended.errors == "tfdata-doctor: interrupted; " + std::to_string(rows) +
                            " rows written; the same command with --resume goes on\n");
  for (const std::string& line : lines_of(read_whole_file(out))) CHECK(parse_row(line));
}

TEST_CASE("a trace that takes too long has a row that says so") {
  const EndlessPipe never;
  // The other trace has no more time than that: a machine whose disk is busy may not read for a second.
  const Ended ended = run_tool({"batch", never.path(), kTraces + "healthy_tf2.4.trace.json.gz", "--timeout", "4"});
  CHECK(ended.code == 2);
  CHECK(contains(ended.errors, "1 took too long"));
  const std::vector<std::string> lines = lines_of(ended.output);
  REQUIRE(lines.size() == 2);
  const std::size_t late = contains(lines[0], "/dev/fd/") ? 0 : 1;
  CHECK(parsed(lines[late]).error == "takes longer than --timeout 4 allows");
  CHECK(parsed(lines[1 - late]).verdict == "healthy");
}

/// The process that works for `process` and has entered its sandbox, other than `before`; 0 when `process` has ended.
pid_t worker_of(pid_t process, pid_t before) {
  const std::string id = std::to_string(process);
  int status = 0;
  while (::waitpid(process, &status, WNOHANG) == 0) {
    std::istringstream children(read_whole_file("/proc/" + id + "/task/" + id + "/children"));
    pid_t writer = 0;  // the process that writes files is made first
    pid_t worker = 0;
    if (!(children >> writer >> worker)) continue;
    if (worker != before) {
      const std::string described = read_whole_file("/proc/" + std::to_string(worker) + "/status");
      if (contains(described, "Seccomp:\t2")) return worker;
    }
    ::sched_yield();
  }
  return 0;
}

TEST_CASE("a trace whose worker is killed is tried once more, alone, and its row says what to do") {
  // Only its filter of system calls shows from outside that a worker has begun; before that, batch ends with its
  // failure.
  if (force_of(available_sandbox()) == "none") return;
  if (!fs::exists("/proc/self/task/" + std::to_string(::getpid()) + "/children")) return;
  const EndlessPipe never;
  const TemporaryDirectory folder;
  const std::string out = folder / "rows.ndjson";
  std::vector<std::string> owned = {tool_path(), "batch", never.path(), "-o", out, "-q", "-j", "1"};
  std::vector<char*> values;
  for (std::string& value : owned) values.push_back(value.data());
  values.push_back(nullptr);
  pid_t process = 0;
  REQUIRE(::posix_spawn(&process, tool_path().c_str(), nullptr, nullptr, values.data(), environ) == 0);
  const pid_t first = worker_of(process, 0);
  REQUIRE(first != 0);
  CHECK(::kill(first, SIGKILL) == 0);
  const pid_t second = worker_of(process, first);
  REQUIRE(second != 0);
  CHECK(read_whole_file(out).empty());
  CHECK(::kill(second, SIGKILL) == 0);
  int status = 0;
  REQUIRE(::waitpid(process, &status, 0) == process);
  const std::vector<std::string> lines = lines_of(read_whole_file(out));
  REQUIRE(lines.size() == 1);
  CHECK(parsed(lines[0]).error ==
        "the diagnosis was killed twice, as a machine that is out of memory does it; run it again");
}

TEST_CASE("a trace that needs too much memory has a row that says so") {
  if (kHasSanitizer) return;
  const TemporaryDirectory folder;
  // One thread with a million calls of an iterator, which is more than fits into 40 MiB.
  std::string events = R"({"traceEvents":[)";
  for (int index = 0; index < 1'000'000; ++index) {
    events += R"({"ph":"X","pid":1,"tid":1,"ts":)" + std::to_string(index * 2) +
              R"(,"dur":1,"name":"Iterator::Root::Map","args":{"id":"1"}},)";
  }
  events.back() = ']';
  const std::string large = folder.write("large.trace.json", events + "}");
  const std::string small = kTraces + "healthy_tf2.4.trace.json.gz";
  const Ended ended = run_tool({"batch", large, small, "--max-memory", "24M"});
  CHECK(ended.code == 2);
  CHECK(contains(ended.errors, "1 needed too much memory"));
  for (const std::string& line : lines_of(ended.output)) {
    const TraceRow row = parsed(line);
    CHECK(row.error == (row.file.path == large ? "needs more memory than --max-memory 24M allows" : ""));
  }
  // It fits when it is alone, whatever the number of workers.
  const std::multiset<std::string> alone = row_set(run_tool({"batch", large, small, "-j", "1"}).output);
  CHECK(row_set(run_tool({"batch", large, small, "-j", "8", "--max-memory", "520M"}).output) == alone);
}

TEST_CASE("wrong usage") {
  CHECK(contains(run_tool({"batch"}).errors, "no trace given"));
  CHECK(contains(run_tool({"batch", "x", "--shard", "3/2"}).errors, "'3/2' is not a shard like 2/8"));
  CHECK(contains(run_tool({"batch", "x", "--resume"}).errors, "--resume: needs a file to go on with"));
  CHECK(contains(run_tool({"batch", "x", "--name", "y"}).errors, "--name: is for the trace on standard input"));
  CHECK(contains(run_tool({"batch", "-", "--files-from", "-"}).errors, "cannot be a trace and a list"));
  CHECK(contains(run_tool({"batch", "--files-from", "/no/list"}).errors, "/no/list"));
}

}  // namespace

}  // namespace doctor::batch_cli_test
