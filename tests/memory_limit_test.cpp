// --max-memory: how a size is written, and what happens when it is reached.

#include <doctest/doctest.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <latch>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "command_line/option_values.h"
#include "process/output.h"
#include "process/process_limits.h"
#include "process/progress.h"
#include "sanitizer.h"

namespace doctor::memory_limit_test {
namespace {

/// What a child process writes to standard error while it runs `work`, and its exit status (-1: a signal).
template <typename Work>
std::pair<std::string, int> run_in_child(Work work) {
  int ends[2] = {-1, -1};
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::dup2(ends[1], STDERR_FILENO);
    work();
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string written;
  std::array<char, 4096> buffer;
  for (ssize_t count = 0; (count = ::read(ends[0], buffer.data(), buffer.size())) > 0;) {
    written.append(buffer.data(), static_cast<std::size_t>(count));
  }
  ::close(ends[0]);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return {written, WIFEXITED(status) ? WEXITSTATUS(status) : -1};
}

/// Takes memory until there is none, not even for the smallest object, then asks for some.
void take_memory() {
  for (std::size_t size = 100'000; size > 0; size /= 2) {
    while (std::malloc(size) != nullptr) {
    }
  }
  for (;;) {
    // volatile: a pair of new and delete may be left out
    char* volatile const taken = new char;
    static_cast<void>(taken);
  }
}

}  // namespace

TEST_CASE("sizes are read as people write them") {
  const std::vector<std::pair<std::string, std::uint64_t>> sizes = {
      {"1", 1},
      {"1000", 1'000},
      {"1000B", 1'000},
      {"64K", 65'536},
      {"64k", 65'536},
      {"64KiB", 65'536},
      {"64kB", 64'000},
      {"100M", 104'857'600},
      {"100MB", 100'000'000},
      {"100MiB", 104'857'600},
      {"1.5G", 1'610'612'736},
      {"1.5gb", 1'500'000'000},
      {".5K", 512},
      {"2T", 2'199'023'255'552},
      {"2TB", 2'000'000'000'000},
      {"1.0009765625k", 1'025},
  };
  for (const auto& size : sizes) {
    CAPTURE(size.first);
    CHECK(parse_memory_size(size.first) == size.second);
  }
}

TEST_CASE("anything else is not a size") {
  for (const std::string_view text :
       {"",    "0",    "0.5", "-1",  "-1M", "M",    "1 M",   "1MM",    "1Ki",         "1Mb/s",
        "1e3", "0x10", "+1M", "inf", "nan", "1,5G", "1..5G", "1.5.5M", "9999999999T", " 1M"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_memory_size(text));
  }
}

TEST_CASE("memory that runs out in several threads at once ends the process with one message") {
  if (kHasSanitizer) return;  // see sanitizer.h
  const auto [message, status] = run_in_child([] {
    end_when_memory_runs_out();
    name_current_files({"a.pb", "b\x1b.pb"});
    Progress& progress = current_work().progress;
    progress.stage = "read";
    progress.file_index = 1;
    progress.bytes_before = 100'000'000;
    progress.bytes_read = 312'000'000;
    progress.bytes_total = 1'027'000'000;
    if (!limit_memory(memory_limit(300'000'000, "300MB"))) return;
    std::vector<std::thread> threads;
    threads.reserve(8);
    // None begins before all are there: a thread that cannot start is another fault.
    std::latch all_started(8);
    for (int index = 0; index < 8; ++index) {
      threads.emplace_back([&] {
        all_started.arrive_and_wait();
        take_memory();
      });
    }
    for (std::thread& thread : threads) thread.join();
  });
  CHECK(status == kExitFailure);
  CHECK(message ==
        "tfdata-doctor: more memory is needed than --max-memory 300MB allows (reading b\\x1b.pb, 412 of 1,027 MB "
        "read); allow more with --max-memory, try a shorter trace, or fewer files at once\n");
}

TEST_CASE("the message says what was being done, and to which file") {
  if (kHasSanitizer) return;  // see sanitizer.h
  const auto place = [](const char* stage, std::uint64_t bytes_total) {
    const auto [message, status] = run_in_child([&] {
      name_current_files({"a.pb"});
      Progress& progress = current_work().progress;
      progress.stage = stage;
      progress.bytes_read = 5'000;
      progress.bytes_total = bytes_total;
      if (limit_memory(memory_limit(1'000'000'000, "1GB"))) end_without_memory();
    });
    CHECK(status == kExitFailure);
    const std::size_t begin = message.find('(');
    return message.substr(begin, message.find(')') - begin + 1);
  };
  CHECK(place("open", 0) == "(opening a.pb, 5,000 B read)");
  CHECK(place("read", 20'000) == "(reading a.pb, 5 of 20 kB read)");
  CHECK(place("build tree", 5'000) == "(building the tree of a.pb, 5,000 of 5,000 B read)");
  CHECK(place("measure", 5'000) == "(measuring a.pb, 5,000 of 5,000 B read)");
  CHECK(place("diagnose", 5'000) == "(diagnosing)");
  CHECK(place("render and write", 5'000) == "(writing the report)");
}

TEST_CASE("a limit that is too small for the program itself is told at once") {
  if (kHasSanitizer) return;  // see sanitizer.h
  const auto [message, status] = run_in_child([] {
    end_when_memory_runs_out();
    static_cast<void>(limit_memory(memory_limit(1, "1")));
  });
  CHECK(status == kExitFailure);
  CHECK(message.starts_with("tfdata-doctor: more memory is needed than --max-memory 1 allows (starting); "));
}

TEST_CASE("a lower limit that the system has set already is not blamed on the option") {
  if (kHasSanitizer) return;  // see sanitizer.h
  const auto [message, status] = run_in_child([] {
    end_when_memory_runs_out();
    const rlimit limit{300'000'000, RLIM_INFINITY};
    if (::setrlimit(RLIMIT_DATA, &limit) != 0 || !limit_memory(memory_limit(1'000'000'000, "1GB"))) return;
    take_memory();
  });
  CHECK(status == kExitFailure);
  CHECK(message == "tfdata-doctor: out of memory; try a shorter trace, or fewer files at once\n");
}

TEST_CASE("threads get a stack of 1 MiB, with or without a limit") {
  const auto [message, status] = run_in_child([] {
    use_small_thread_stacks();
    std::size_t size = 0;
    std::thread([&] {
      pthread_attr_t attributes;
      if (::pthread_getattr_np(::pthread_self(), &attributes) == 0) ::pthread_attr_getstacksize(&attributes, &size);
    }).join();
    if (size != std::size_t{1} << 20) ::_exit(1);
  });
  CHECK(status == 0);
}

}  // namespace doctor::memory_limit_test
