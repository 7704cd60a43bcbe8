// The process that writes files for one in the sandbox.

#include "process/output_broker.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "io/file_io.h"
#include "process/sandbox.h"
#include "reading_sandbox.h"
#include "run_tool.h"
#include "temporary_directory.h"

namespace doctor::output_broker_test {
namespace {

namespace fs = std::filesystem;

TEST_CASE("a document is written by the broker, what has no name to be replaced by the process itself") {
  CHECK(sandbox_plan({.outputs = {std::string(), std::string("-")}}).task.files.empty());
  const SandboxPlan plan = sandbox_plan({.outputs = {std::string("report"), std::string("/dev/null")}});
  CHECK(plan.task.files == std::vector<std::string>{"report"});
  CHECK(plan.rules.writable == std::vector<std::string>{"/dev/null"});
  CHECK(plan.rules.writable_folders.empty());
}

TEST_CASE("a database is changed with what SQLite has beside it, and nothing else of its folder") {
  const TemporaryDirectory folder;
  const std::string database = folder / "database";
  const SandboxPlan plan = sandbox_plan({.databases = {database}});
  CHECK(plan.rules.changeable == std::vector{database, database + "-journal", database + "-wal", database + "-shm"});
  CHECK(plan.task.empty_databases == std::vector{database});
  folder.write("database", "");
  CHECK(sandbox_plan({.databases = {database}}).task.empty_databases == std::vector{database});
  folder.write("database", "content");
  CHECK(sandbox_plan({.databases = {database}}).task.empty_databases.empty());
  CHECK(sandbox_plan({.inputs = {database}}).rules.changeable.empty());
  folder.write("database-journal", "half a change");
  CHECK(sandbox_plan({.inputs = {database}}).rules.changeable.front() == database);
}

TEST_CASE("the broker replaces, appends to and locks the files of its task, and no other") {
  const TemporaryDirectory folder;
  const std::string report = folder.write("report", "old");
  const std::string kept = folder / "kept";
  fs::create_directory(kept);
  folder.write("kept/part", "x");
  const std::string lost = folder / "lost";
  const std::string locked = folder / "locked";
  {
    const OutputBroker broker({.files = {report, lost, locked}, .temporary_folders = {kept}});
    REQUIRE(broker.is_running());
    CHECK(broker.knows(report));
    CHECK_FALSE(broker.knows(folder / "other"));
    FileDescriptor file;
    CHECK(broker.ask(BrokerAction::finish, report) == EINVAL);
    REQUIRE(broker.ask(BrokerAction::begin, report, &file) == 0);
    CHECK(write_all(file.number(), "new"));
    CHECK(read_whole_file(report) == "old");
    CHECK(broker.ask(BrokerAction::finish, report) == 0);
    CHECK(read_whole_file(report) == "new");
    REQUIRE(broker.ask(BrokerAction::append, report, &file) == 0);
    CHECK(write_all(file.number(), "er"));
    CHECK(broker.ask(BrokerAction::begin, lost, &file) == 0);
    CHECK(broker.ask(BrokerAction::begin, folder / "other", &file) == EINVAL);
    CHECK(broker.ask(BrokerAction::open, locked, &file) == 0);
    CHECK(fs::exists(locked));
  }
  CHECK(read_whole_file(report) == "newer");
  CHECK_FALSE(fs::exists(lost));
  CHECK_FALSE(fs::exists(locked));
  CHECK_FALSE(fs::exists(kept));
  CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("where no broker can be had nothing is left, and the reason is told") {
  const TemporaryDirectory folder;
  const std::string kept = folder / "kept";
  fs::create_directory(kept);
  rlimit before = {};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit none = {0, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  const Result<void> started = start_output_broker({.files = {folder / "report"}, .temporary_folders = {kept}});
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  REQUIRE_FALSE(started);
  CHECK(started.error().what == "no process can be had that writes files: Too many open files");
  CHECK(broker_of(folder / "report") == nullptr);
  CHECK_FALSE(fs::exists(kept));
}

TEST_CASE("what stands at the broker's name and is not a file stays") {
  const TemporaryDirectory folder;
  const std::string pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const OutputBroker broker({.files = {pipe}});
  FileDescriptor file;
  CHECK(broker.ask(BrokerAction::begin, pipe, &file) == EEXIST);
  CHECK(fs::is_fifo(pipe));
}

TEST_CASE("a name of what this process has open means its file, not the broker's") {
  const TemporaryDirectory folder;
  const std::string report = folder.write("report", "old");
  const FileDescriptor open(::open(report.c_str(), O_RDONLY | O_CLOEXEC));
  const std::string name = "/proc/self/fd/" + std::to_string(open.number());
  {
    const OutputBroker broker({.files = {name}});
    FileDescriptor file;
    REQUIRE(broker.ask(BrokerAction::begin, name, &file) == 0);
    CHECK(write_all(file.number(), "new"));
    CHECK(broker.ask(BrokerAction::finish, name) == 0);
  }
  CHECK(read_whole_file(report) == "new");
}

TEST_CASE("a new database that stays empty goes, unless another program has it") {
  const TemporaryDirectory folder;
  const std::string database = folder / "database";
  { const OutputBroker broker({.empty_databases = {database}}); }
  CHECK_FALSE(fs::exists(database));
  {
    const OutputBroker other({.empty_databases = {database}});
    { const OutputBroker broker({.empty_databases = {database}}); }
    CHECK(fs::exists(database));
  }
  CHECK_FALSE(fs::exists(database));
}

TEST_CASE("a new database stays for the program that found it empty") {
  const TemporaryDirectory folder;
  const std::string database = folder / "database";
  auto maker = std::make_unique<OutputBroker>(BrokerTask{.empty_databases = {database}});
  const OutputBroker finder({.empty_databases = {database}});
  maker.reset();
  CHECK(fs::exists(database));
}

TEST_CASE("an empty database that was there before stays") {
  const TemporaryDirectory folder;
  const std::string database = folder.write("database", "");
  { const OutputBroker broker({.empty_databases = {database}}); }
  CHECK(fs::exists(database));
}

}  // namespace
}  // namespace doctor::output_broker_test
