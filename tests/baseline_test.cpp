// Baselines: what is stored is read again, whatever is in it, and a program that is killed loses none of it.

#include "compare/baseline.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "compare/baseline_store.h"
#include "summaries.h"
#include "temporary_directory.h"

namespace doctor::baseline_test {
namespace {

std::string random_text(std::mt19937_64& random) {
  static const std::vector<std::string> kTexts = {"",
                                                  "Iterator::Root::Map",
                                                  std::string("a\0b", 3),
                                                  "'; DROP TABLE runs; --",
                                                  "\"quoted\\ \n\t\x01\x7f",
                                                  "größer \xf0\x9f\x98\x80",
                                                  "</script>{}[],:"};
  return kTexts[random() % kTexts.size()];
}

DurationStatistics random_durations(std::mt19937_64& random) {
  const auto time = [&] { return static_cast<Picoseconds>(random() >> (1 + random() % 60)); };
  return {random() >> (random() % 64), time(), time(), time(), time(), time(), time()};
}

RunSummary random_summary(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  RunSummary run;
  run.source = random_text(random);
  run.tool_version = random_text(random);
  run.status = static_cast<VerdictStatus>(random() % 4);
  if (random() % 2 == 0) {
    run.recording = {random_text(random),
                     random_text(random),
                     random() % 100,
                     random_text(random),
                     random_text(random),
                     static_cast<std::int64_t>(random() >> 1),
                     {},
                     std::nullopt};
    if (random() % 2 == 0) run.recording.other_load = {0.25, 1.5, std::nullopt};
  }
  run.confidence = static_cast<double>(random() % 1001) / 1000;
  run.is_complete = random() % 2 == 0;
  run.is_torn = random() % 2 == 0;
  for (std::size_t count = random() % 5; run.iterators.size() < count;) {
    IteratorSummary iterator;
    iterator.long_name = random_text(random);
    if (random() % 2 == 0) iterator.user_name = random_text(random);
    if (random() % 2 == 0) {
      iterator.source =
          SourceLine{random_text(random), random() % 100, random_text(random), random_text(random), std::nullopt};
    }
    iterator.kind = random_text(random);
    iterator.words = random_text(random);
    const std::size_t parent = random() % (run.iterators.size() + 1);
    iterator.parent = parent == run.iterators.size() ? kNoIndex : parent;
    iterator.is_autotuned = random() % 2 == 0;
    for (const char* name : {"batch_size", "parallelism"}) {
      if (random() % 2 == 0) iterator.settings.push_back({name, -static_cast<std::int64_t>(random() % 9), INT64_MAX});
    }
    iterator.calls = random();
    if (random() % 2 == 0) iterator.element_bytes = random();
    iterator.self = random_durations(random);
    if (random() % 2 == 0) iterator.function_ops.push_back({random_text(random), random_durations(random)});
    run.iterators.push_back(std::move(iterator));
  }
  if (random() % 2 == 0) {
    PipelineSummary& pipeline = run.pipelines.emplace_back();
    if (!run.iterators.empty()) pipeline.root = 0;
    pipeline.is_device = random() % 2 == 0;
    pipeline.feeds_another = random() % 2 == 0;
    pipeline.get_next = random_durations(random);
    pipeline.step = random_durations(random);
    pipeline.input_share = static_cast<double>(random() % 1001) / 1000;
  }
  if (random() % 2 == 0) run.findings.push_back({random_text(random), Severity::error, random_text(random)});
  return run;
}

/// Different runs have different numbers.
StoredRun stored(std::uint64_t number) {
  StoredRun run;
  run.summary = SummaryBuilder("Root Prefetch Map Range").is_called("Map", number).run();
  run.id = identifier_of(run.summary);
  run.label = fmt::format("version {}", number);
  return run;
}

std::vector<StoredRun> stored_from(std::uint64_t first, std::uint64_t count) {
  std::vector<StoredRun> runs;
  for (std::uint64_t number = first; number < first + count; ++number) runs.push_back(stored(number));
  return runs;
}

std::vector<StoredRun> loaded(const std::string& path) {
  Result<std::vector<StoredRun>> runs = load_baseline(path);
  if (!runs) FAIL(to_string(runs.error()));
  return std::move(*runs);
}

std::size_t added(const std::string& path, const std::vector<StoredRun>& runs) {
  const Result<std::size_t> count = add_to_baseline(path, runs);
  if (!count) FAIL(to_string(count.error()));
  return *count;
}

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

const std::vector<std::string> kNames = {"baseline.json", "baseline.sqlite"};

TEST_CASE("what is stored is read again, whatever is in it") {
  for (const std::string& name : kNames) {
    CAPTURE(name);
    const TemporaryDirectory directory;
    const std::string path = directory / name;
    std::vector<StoredRun> runs;
    std::set<std::string> ids;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      StoredRun run{{}, {}, random_summary(seed)};
      run.id = identifier_of(run.summary);
      std::mt19937_64 random(seed);
      run.label = random_text(random);
      if (ids.insert(run.id).second) runs.push_back(run);
    }
    CHECK(runs.size() > 50);
    CHECK(added(path, runs) == runs.size());
    CHECK(loaded(path) == runs);
  }
}

TEST_CASE("invalid UTF-8 becomes replacement characters") {
  for (const std::string& name : kNames) {
    const TemporaryDirectory directory;
    StoredRun run = stored(1);
    run.label = "a\xff\xc3";
    run.summary.iterators[0].long_name = "Iterator::\x80";
    CHECK(added(directory / name, {run}) == 1);
    const std::vector<StoredRun> runs = loaded(directory / name);
    REQUIRE(runs.size() == 1);
    CHECK(runs[0].label == "a\xef\xbf\xbd\xef\xbf\xbd");
    CHECK(runs[0].summary.iterators[0].long_name == "Iterator::\xef\xbf\xbd");
  }
}

TEST_CASE("the identifier is that of what was measured") {
  RunSummary run = stored(7).summary;
  const std::string id = identifier_of(run);
  run.source = "another name";
  run.tool_version = "9.9";
  CHECK(identifier_of(run) == id);
  run.iterators[1].calls += 1;
  CHECK(identifier_of(run) != id);
}

TEST_CASE("the same run is stored once, and the last ones stay") {
  for (const std::string& name : kNames) {
    CAPTURE(name);
    const TemporaryDirectory directory;
    const std::string path = directory / name;
    CHECK(added(path, stored_from(1, 3)) == 3);
    CHECK(added(path, stored_from(2, 3)) == 1);
    CHECK(added(path, {stored(9), stored(9)}) == 1);
    CHECK(loaded(path) == std::vector<StoredRun>{stored(1), stored(2), stored(3), stored(4), stored(9)});
    CHECK(prune_baseline(path, 10) == 0);
    CHECK(prune_baseline(path, 2) == 3);
    CHECK(loaded(path) == std::vector<StoredRun>{stored(4), stored(9)});
    CHECK(added(path, {stored(1)}) == 1);
    CHECK(prune_baseline(path, 0) == 3);
    CHECK(loaded(path).empty());
    CHECK(added(path, {stored(1)}) == 1);
  }
}

TEST_CASE("content decides what a baseline is, its name only where there is none") {
  const TemporaryDirectory directory;
  CHECK(added(directory / "a.json", {stored(1)}) == 1);
  CHECK(added(directory / "b.db", {stored(1)}) == 1);
  CHECK(content_of(directory / "a.json").starts_with("{\"schema\":\"tfdata-doctor.baseline/1\""));
  CHECK(content_of(directory / "b.db").starts_with("SQLite format 3"));
  std::filesystem::rename(directory / "a.json", directory / "a.db");
  std::filesystem::rename(directory / "b.db", directory / "b.json");
  for (const char* name : {"a.db", "b.json"}) {
    CHECK(added(directory / name, {stored(2)}) == 1);
    CHECK(loaded(directory / name).size() == 2);
    CHECK(sniff_baseline(content_of(directory / name)));
  }
  CHECK(content_of(directory / "a.db").starts_with("{"));
  CHECK_FALSE(sniff_baseline("{\"traceEvents\":[]}"));
  CHECK_FALSE(sniff_baseline(""));
  // An empty file is none yet, and may become one of either kind.
  for (const std::string& name : kNames) {
    write(directory / name, "");
    const Result<std::vector<StoredRun>> runs = load_baseline(directory / name);
    REQUIRE_FALSE(runs);
    CHECK(runs.error().what.find("is empty") != std::string::npos);
    CHECK(runs.error().next.find("baseline add") != std::string::npos);
    CHECK(prune_baseline(directory / name, 0) == 0);
    CHECK(added(directory / name, {stored(1)}) == 1);
  }
}

/// Runs SQL with a connection of its own, which is held until the end.
class OtherConnection {
 public:
  explicit OtherConnection(const std::string& path) { REQUIRE(sqlite3_open(path.c_str(), &handle_) == SQLITE_OK); }
  OtherConnection(const OtherConnection&) = delete;
  OtherConnection& operator=(const OtherConnection&) = delete;
  ~OtherConnection() { sqlite3_close(handle_); }

  void execute(const std::string& sql) {
    REQUIRE(sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
  }

 private:
  sqlite3* handle_ = nullptr;
};

void check_refused(const std::string& path, const std::string& word) {
  CAPTURE(path);
  const std::string before = content_of(path);
  const auto check = [&](const auto& result) {
    REQUIRE_FALSE(result);
    CHECK_MESSAGE(to_string(result.error()).find(word) != std::string::npos, to_string(result.error()));
    CHECK(to_string(result.error()).find(path) != std::string::npos);
  };
  check(load_baseline(path));
  check(add_to_baseline(path, {stored(1)}));
  check(prune_baseline(path, 0));
  CHECK(content_of(path) == before);
}

TEST_CASE("what is no baseline is refused and left as it is") {
  const TemporaryDirectory directory;
  const std::string json = to_baseline_json(stored_from(1, 2));
  const std::string path = directory / "file.json";
  struct Case {
    std::string bytes;
    std::string word;
  };
  for (const Case& one : std::vector<Case>{
           {"{\"traceEvents\":[]}", "is not a baseline"},
           {"not even JSON", "is not a baseline"},
           {std::string("\x0a\x00\x01", 3), "is not a baseline"},
           {json.substr(0, json.size() / 2), "is not a baseline that this tool wrote"},
           {"{\"schema\":\"tfdata-doctor.baseline/2\",\"runs\":[]}", "another version, 'tfdata-doctor.baseline/2'"},
           {"{\"schema\":\"tfdata-doctor.baseline/1\"}", "'runs' is missing"},
           {"{\"schema\":\"tfdata-doctor.baseline/1\",\"runs\":[7]}", "missing or wrong in a run"},
           {"{\"schema\":\"tfdata-doctor.baseline/1\",\"runs\":[{\"id\":\"a\"}]}", "'label' is missing or wrong"},
           {std::string("SQLite format 3\0", 16) + std::string(2000, 'x'), "the baseline cannot be read"},
       }) {
    write(path, one.bytes);
    check_refused(path, one.word);
  }
  CHECK_FALSE(load_baseline(directory.path()));
  CHECK_FALSE(add_to_baseline(directory.path(), {stored(1)}));
}

TEST_CASE("databases of others, and of newer versions, are refused and left as they are") {
  const TemporaryDirectory directory;
  OtherConnection(directory / "other.db").execute("CREATE TABLE t (x)");
  check_refused(directory / "other.db", "is a database of another program");
  OtherConnection(directory / "claimed.db").execute("PRAGMA application_id = 7");
  check_refused(directory / "claimed.db", "is a database of another program");
  added(directory / "newer.db", {stored(1)});
  OtherConnection(directory / "newer.db").execute("PRAGMA user_version = 2");
  check_refused(directory / "newer.db", "of version 2; this tool reads version 1");
  added(directory / "damaged.db", {stored(1)});
  OtherConnection(directory / "damaged.db").execute("UPDATE runs SET summary = '{'");
  CHECK_FALSE(load_baseline(directory / "damaged.db"));
  added(directory / "cut.db", stored_from(1, 20));
  const std::string whole = content_of(directory / "cut.db");
  write(directory / "cut.db", whole.substr(0, whole.size() / 2));
  CHECK_FALSE(load_baseline(directory / "cut.db"));
}

TEST_CASE("a baseline that is not there, or cannot be") {
  const TemporaryDirectory directory;
  for (const char* name : {"none.json", "none.db"}) {
    CHECK_FALSE(load_baseline(directory / name));
    CHECK_FALSE(prune_baseline(directory / name, 1));
    CHECK_FALSE(std::filesystem::exists(directory / name));
  }
  CHECK_FALSE(add_to_baseline(directory / "no/folder.json", {stored(1)}));
  CHECK_FALSE(add_to_baseline(directory / "no/folder.db", {stored(1)}));
}

TEST_CASE("foreign text is no SQL") {
  const TemporaryDirectory directory;
  const std::string path = directory / "baseline.db";
  StoredRun run = stored(1);
  run.id = run.label = run.summary.source = "'); DROP TABLE runs; --";
  CHECK(added(path, {run}) == 1);
  CHECK(loaded(path) == std::vector<StoredRun>{run});
}

TEST_CASE("a link to a baseline stays one, and so do its permissions") {
  for (const std::string& name : kNames) {
    const TemporaryDirectory directory;
    const std::string path = directory / name;
    const std::string link = directory / "link";
    added(path, {stored(1)});
    REQUIRE(::chmod(path.c_str(), 0640) == 0);
    std::filesystem::create_symlink(path, link);
    CHECK(added(link, {stored(2)}) == 1);
    CHECK(std::filesystem::is_symlink(link));
    CHECK(loaded(path).size() == 2);
    struct stat status {};
    REQUIRE(::stat(path.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0640);
    std::filesystem::remove(path + "-journal");  // SQLite's, emptied
    CHECK(std::distance(std::filesystem::directory_iterator(directory.path()), {}) == 2);
  }
}

TEST_CASE("a link that leads to nothing yet makes the file that it leads to") {
  for (const std::string& name : kNames) {
    const TemporaryDirectory directory;
    std::filesystem::create_symlink(directory / ("real-" + name), directory / name);
    CHECK(added(directory / name, {stored(1)}) == 1);
    CHECK(std::filesystem::is_symlink(directory / name));
    CHECK(loaded(directory / ("real-" + name)).size() == 1);
  }
}

TEST_CASE("a locked database is waited for") {
  const TemporaryDirectory directory;
  const std::string path = directory / "baseline.db";
  added(path, {stored(1)});
  OtherConnection other(path);
  other.execute("BEGIN EXCLUSIVE");
  std::atomic<std::size_t> count = 0;
  std::thread adder([&] { count = add_to_baseline(path, {stored(2)}).value_or(0); });
  other.execute("UPDATE runs SET label = 'changed'; COMMIT");
  adder.join();
  CHECK(count == 1);
  CHECK(loaded(path).size() == 2);
}

/// A process that does something and ends. What it does must not touch doctest.
pid_t start(const std::function<bool()>& work) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) ::_exit(work() ? 0 : 1);
  return child;
}

int wait_for(pid_t child) {
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return status;
}

TEST_CASE("several processes that add at once lose nothing") {
  for (const std::string& name : kNames) {
    CAPTURE(name);
    const TemporaryDirectory directory;
    const std::string path = directory / name;
    constexpr std::uint64_t kEach = 12;
    std::vector<pid_t> children;
    for (std::uint64_t process = 0; process < 3; ++process) {
      children.push_back(start([&, process] {
        for (std::uint64_t index = 0; index < kEach; ++index) {
          const Result<std::size_t> count = add_to_baseline(path, {stored(1 + process * kEach + index)});
          if (!count || *count != 1) return false;
        }
        return true;
      }));
    }
    for (const pid_t child : children) CHECK(wait_for(child) == 0);
    std::set<std::string> ids;
    for (const StoredRun& run : loaded(path)) ids.insert(run.id);
    CHECK(ids.size() == 3 * kEach);
  }
}

/// Adds a run after the other, and tells each that is stored by a byte, until it is killed behind the `kill_after`th:
/// somewhere in the next ones. How many it told.
std::size_t add_until_killed(const std::string& path, std::size_t kill_after, std::uint64_t first) {
  int pipe_ends[2];
  REQUIRE(::pipe(pipe_ends) == 0);
  const pid_t child = start([&] {
    for (std::uint64_t number = first; number < first + 1000; ++number) {
      if (!add_to_baseline(path, {stored(number)}) || ::write(pipe_ends[1], "x", 1) != 1) return false;
    }
    return true;
  });
  ::close(pipe_ends[1]);
  char byte = 0;
  std::size_t told = 0;
  while (told < kill_after && ::read(pipe_ends[0], &byte, 1) == 1) ++told;
  // How far it gets meanwhile is the machine's choice; that nothing is lost holds for all.
  for (std::uint64_t work = first * 7 % 97; work > 0; --work) identifier_of(stored(work).summary);
  REQUIRE(::kill(child, SIGKILL) == 0);
  CHECK(WIFSIGNALED(wait_for(child)));
  while (::read(pipe_ends[0], &byte, 1) == 1) ++told;
  ::close(pipe_ends[0]);
  return told;
}

TEST_CASE("a process that is killed while it adds loses no run that was stored") {
  for (const std::string& name : kNames) {
    CAPTURE(name);
    const TemporaryDirectory directory;
    const std::string path = directory / name;
    std::vector<StoredRun> expected;
    for (std::uint64_t round = 0; round < 25; ++round) {
      const std::uint64_t first = 1 + round * 1000;
      const std::size_t told = add_until_killed(path, round % 4, first);
      for (const StoredRun& run : stored_from(first, told)) expected.push_back(run);
      const std::vector<StoredRun> runs = std::filesystem::exists(path) && std::filesystem::file_size(path) > 0
                                              ? loaded(path)
                                              : std::vector<StoredRun>{};
      // One more may be stored that it had no time to tell.
      REQUIRE(runs.size() >= expected.size());
      REQUIRE(runs.size() <= expected.size() + 1);
      if (runs.size() > expected.size()) expected.push_back(stored(first + told));
      REQUIRE(runs == expected);
    }
    CHECK(added(path, {stored(999'999)}) == 1);
  }
}

TEST_CASE("what a killed program left half written is undone when it is read") {
  // A copy of database and journal in the middle of a change is what a kill leaves.
  const TemporaryDirectory directory;
  const std::string path = directory / "baseline.db";
  added(path, stored_from(1, 30));
  const std::vector<StoredRun> before = loaded(path);
  const TemporaryDirectory copy;
  {
    OtherConnection writer(path);
    // A cache of one page writes to the file before the change ends.
    writer.execute("PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN; UPDATE runs SET label = 'x', summary = 'x';");
    for (const char* name : {"baseline.db", "baseline.db-journal"}) {
      std::filesystem::copy_file(directory / name, copy / name);
    }
    writer.execute("ROLLBACK");
  }
  CHECK(content_of(copy / "baseline.db") != content_of(path));
  CHECK(loaded(copy / "baseline.db") == before);
}

TEST_CASE("a database without tables yet has no runs") {
  const TemporaryDirectory directory;
  OtherConnection(directory / "bare.db").execute("PRAGMA user_version = 1; VACUUM");
  CHECK(loaded(directory / "bare.db").empty());
  CHECK(added(directory / "bare.db", {stored(1)}) == 1);
  CHECK(loaded(directory / "bare.db").size() == 1);
}

TEST_CASE("a pipe of the name that a partial file used to have keeps nobody waiting") {
  const TemporaryDirectory directory;
  const std::string path = directory / "baseline.json";
  REQUIRE(::mkfifo((path + ".new").c_str(), 0600) == 0);
  CHECK(added(path, {stored(1)}) == 1);
  CHECK(loaded(path) == std::vector<StoredRun>{stored(1)});
}

TEST_CASE("what cannot be written is told, and the baseline stays") {
  const TemporaryDirectory directory;
  const std::string path = directory / "baseline.json";
  added(path, {stored(1)});
  BaselineAccess full_disk = access_by_name();
  full_disk.replace = [](const std::string& file, std::string_view) { return fail("no space left", file); };
  const Result<std::size_t> count = add_to_baseline(path, BaselineKind::json, {stored(2)}, full_disk);
  REQUIRE_FALSE(count);
  CHECK(loaded(path) == std::vector<StoredRun>{stored(1)});
}

}  // namespace

}  // namespace doctor::baseline_test
