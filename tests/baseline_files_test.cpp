// Baselines as files: foreign ones, links, locks, and programs that are killed while they write.

#include <doctest/doctest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "compare/baseline.h"
#include "compare/baseline_store.h"
#include "stored_runs.h"
#include "summaries.h"
#include "temporary_directory.h"

namespace doctor::baseline_test {
namespace {

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

/// A baseline as versions of 2026 made it.
void make_database(const std::string& path, const std::vector<StoredRun>& runs) {
  OtherConnection database(path);
  database.execute(
      "PRAGMA application_id = 1952867442; PRAGMA user_version = 1;"
      "CREATE TABLE runs (number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, label TEXT NOT NULL,"
      " source TEXT NOT NULL, summary TEXT NOT NULL)");
  for (const StoredRun& run : runs) {
    database.execute("INSERT INTO runs (id, label, source, summary) VALUES ('" + run.id + "', '', '', '" +
                     to_json(run) + "')");
  }
}

void check_refused(const std::string& path, const std::string& word) {
  CAPTURE(path);
  const std::string before = content_of(path);
  const auto check = [&](const auto& result) {
    REQUIRE_FALSE(result);
    CHECK_MESSAGE(to_string(result.error()).find(word) != std::string::npos, to_string(result.error()));
    CHECK(to_string(result.error()).find(path) != std::string::npos);
  };
  check(load_baseline(path));
  check(add_to_baseline(path, {stored(1)}, kByName));
  check(prune_baseline(path, last(0), kByName));
  CHECK(content_of(path) == before);
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

/// Adds a run after the other, and tells each that is stored by a byte, until it is killed behind the `kill_after`th:
/// somewhere in the next ones. How many it told.
std::size_t add_until_killed(const std::string& path, std::size_t kill_after, std::uint64_t first) {
  int pipe_ends[2];
  REQUIRE(::pipe(pipe_ends) == 0);
  const pid_t child = start([&] {
    for (std::uint64_t number = first; number < first + 1000; ++number) {
      if (!add_to_baseline(path, {stored(number)}, kByName) || ::write(pipe_ends[1], "x", 1) != 1) return false;
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
  CHECK_FALSE(add_to_baseline(directory.path(), {stored(1)}, kByName));
}

TEST_CASE("databases of others, and of newer versions, are refused and left as they are") {
  const TemporaryDirectory directory;
  OtherConnection(directory / "other.db").execute("CREATE TABLE t (x)");
  check_refused(directory / "other.db", "is a database of another program");
  OtherConnection(directory / "claimed.db").execute("PRAGMA application_id = 7");
  check_refused(directory / "claimed.db", "is a database of another program");
  make_database(directory / "newer.db", {stored(1)});
  OtherConnection(directory / "newer.db").execute("PRAGMA user_version = 2");
  check_refused(directory / "newer.db", "of version 2; this tool reads version 1");
  make_database(directory / "damaged.db", {stored(1)});
  OtherConnection(directory / "damaged.db").execute("UPDATE runs SET summary = '{'");
  CHECK_FALSE(load_baseline(directory / "damaged.db"));
  make_database(directory / "cut.db", stored_from(1, 20));
  const std::string whole = content_of(directory / "cut.db");
  write(directory / "cut.db", whole.substr(0, whole.size() / 2));
  CHECK_FALSE(load_baseline(directory / "cut.db"));
}

TEST_CASE("a database of an earlier version is read, and says how to go on") {
  const TemporaryDirectory directory;
  const std::string path = directory / "old.db";
  make_database(path, stored_from(1, 3));
  const std::string before = content_of(path);
  CHECK(loaded(path) == stored_from(1, 3));
  const Result<std::size_t> count = add_to_baseline(path, {stored(4)}, kByName);
  REQUIRE_FALSE(count);
  CHECK(to_string(count.error()).find("baseline show FILE --format json -o NEW.json") != std::string::npos);
  CHECK_FALSE(prune_baseline(path, last(0), kByName));
  CHECK(content_of(path) == before);
  OtherConnection(directory / "bare.db").execute("PRAGMA user_version = 1; VACUUM");
  CHECK(loaded(directory / "bare.db").empty());
}

TEST_CASE("a baseline that is not there, or cannot be") {
  const TemporaryDirectory directory;
  CHECK_FALSE(load_baseline(directory / "none.json"));
  CHECK_FALSE(prune_baseline(directory / "none.json", last(1), kByName));
  CHECK_FALSE(std::filesystem::exists(directory / "none.json"));
  CHECK_FALSE(add_to_baseline(directory / "no/folder.json", {stored(1)}, kByName));
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
          const Result<std::size_t> count = add_to_baseline(path, {stored(1 + process * kEach + index)}, kByName);
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

TEST_CASE("a process that is killed while it adds loses no run that was stored") {
  const TemporaryDirectory directory;
  const std::string path = directory / "baseline.json";
  std::vector<StoredRun> expected;
  for (std::uint64_t round = 0; round < 25; ++round) {
    const std::uint64_t first = 1 + round * 1000;
    const std::size_t told = add_until_killed(path, round % 4, first);
    for (const StoredRun& run : stored_from(first, told)) expected.push_back(run);
    const std::vector<StoredRun> runs =
        std::filesystem::exists(path) && std::filesystem::file_size(path) > 0 ? loaded(path) : std::vector<StoredRun>{};
    // One more may be stored that it had no time to tell.
    REQUIRE(runs.size() >= expected.size());
    REQUIRE(runs.size() <= expected.size() + 1);
    if (runs.size() > expected.size()) expected.push_back(stored(first + told));
    REQUIRE(runs == expected);
  }
  CHECK(added(path, {stored(999'999)}) == 1);
}

TEST_CASE("what a killed program left half written is undone when it is read") {
  // A copy of database and journal in the middle of a change is what a kill leaves.
  const TemporaryDirectory directory;
  const std::string path = directory / "baseline.db";
  make_database(path, stored_from(1, 30));
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
  BaselineAccess full_disk = kByName;
  full_disk.replace = [](const std::string& file, std::string_view) { return fail("no space left", file); };
  const Result<std::size_t> count = add_to_baseline(path, {stored(2)}, full_disk);
  REQUIRE_FALSE(count);
  CHECK(loaded(path) == std::vector<StoredRun>{stored(1)});
}

}  // namespace
}  // namespace doctor::baseline_test
