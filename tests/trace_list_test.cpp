// Which traces a batch is about.

#include "batch/trace_list.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "temporary_directory.h"

namespace doctor::trace_list_test {
namespace {

/// Paths below the directory, as the list has them; "error" for one that is none.
std::vector<std::string> listed(const TemporaryDirectory& directory, const TraceList::Source& source) {
  const Result<std::unique_ptr<TraceList>> list = TraceList::open(source);
  if (!list) FAIL(to_string(list.error()));
  std::vector<std::string> paths;
  while (const std::optional<Result<std::string>> next = (*list)->next()) {
    if (!*next) {
      paths.emplace_back("error");
    } else {
      paths.push_back(std::filesystem::path(**next).lexically_relative(directory.path()).string());
    }
  }
  return paths;
}

void write_all(const TemporaryDirectory& directory, const std::vector<std::string>& names) {
  for (const std::string& name : names) directory.write(name, "x");
}

TEST_CASE("directories are searched at any depth, and files that hold the same run are one") {
  const TemporaryDirectory directory;
  write_all(directory, {"b/2.xplane.pb", "b/1.trace.json.gz", "b/notes.txt", "b/deep/er/h.xplane.pb",
                        "b/deep/er/h.trace.json.gz", "a/timeline_1.json", "a/timeline_2.json"});
  CHECK(listed(directory, {{directory.path()}, {}, '\n', {}}) ==
        std::vector<std::string>{"a/timeline_1.json", "a/timeline_2.json", "b/1.trace.json.gz", "b/2.xplane.pb",
                                 "b/deep/er/h.xplane.pb"});
}

TEST_CASE("files whose content may be a trace come after those whose names say so, and all others are counted") {
  const TemporaryDirectory directory;
  write_all(directory, {"h.xplane.pb", "rank-0.json.gz", "a.json", ".hidden.json", "b.txt", "c.bin", "d", "e.npy"});
  const Result<std::unique_ptr<TraceList>> list = TraceList::open({{directory.path()}, {}, '\n', {}});
  REQUIRE(list.has_value());
  std::vector<std::string> names;
  while (const std::optional<Result<std::string>> next = (*list)->next()) {
    names.push_back(std::filesystem::path(**next).filename().string());
  }
  CHECK(names == std::vector<std::string>{"h.xplane.pb", "a.json", "rank-0.json.gz"});
  CHECK((*list)->passed_over().count == 5);
  CHECK((*list)->passed_over().first ==
        std::vector<std::string>{directory / ".hidden.json", directory / "b.txt", directory / "c.bin"});
}

TEST_CASE("a file that is named twice is in the list once, and one that is not there stays in it") {
  const TemporaryDirectory directory;
  write_all(directory, {"1.xplane.pb", "2.xplane.pb"});
  const std::string list = directory.write("list", directory / "2.xplane.pb" + "\n\n" + directory.path() + "\n");
  CHECK(listed(directory, {{directory / "1.xplane.pb", directory / "none"}, list, '\n', {}}) ==
        std::vector<std::string>{"1.xplane.pb", "none", "2.xplane.pb"});
  CHECK_FALSE(TraceList::open({{}, directory / "no-list", '\n', {}}));
}

TEST_CASE("directories that lead back up are entered once") {
  const TemporaryDirectory directory;
  write_all(directory, {"a/1.xplane.pb"});
  std::filesystem::create_directory_symlink(directory.path(), directory / "a/loop");
  std::filesystem::create_directory_symlink(directory / "a", directory / "0");
  CHECK(listed(directory, {{directory.path()}, {}, '\n', {}}) == std::vector<std::string>{"a/1.xplane.pb"});
}

TEST_CASE("every trace is in one shard, and always in the same") {
  const TemporaryDirectory directory;
  std::vector<std::string> names;
  names.reserve(300);
  for (int index = 0; index < 300; ++index) names.push_back("t" + std::to_string(2 * index) + ".xplane.pb");
  write_all(directory, names);
  std::map<std::string, int> times;
  for (const std::uint64_t index : {1U, 2U, 3U}) {
    const std::vector<std::string> part = listed(directory, {{directory.path()}, {}, '\n', {index, 3}});
    CHECK(part.size() > 60);
    CHECK(part.size() < 140);
    for (const std::string& path : part) ++times[path];
  }
  CHECK(times.size() == names.size());
  CHECK(std::all_of(times.begin(), times.end(), [](const auto& entry) { return entry.second == 1; }));
  // The hash must never change, or a shard that is run again would hold other traces.
  CHECK(Shard{4, 7}.has("logs/a.xplane.pb"));
}

TEST_CASE("parts as they are written") {
  struct Case {
    const char* text;
    std::uint64_t index;
    std::uint64_t count;
  };
  for (const Case& one : {Case{"1/1", 1, 1}, Case{"2/8", 2, 8}, Case{"8/8", 8, 8}}) {
    const std::optional<Shard> shard = parse_shard(one.text);
    REQUIRE(shard);
    CHECK(shard->index == one.index);
    CHECK(shard->count == one.count);
  }
  for (const char* wrong : {"", "1", "/", "0/4", "5/4", "-1/4", "1/0", "a/b", "1/4/2", "1 /4"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_shard(wrong));
  }
}

}  // namespace

}  // namespace doctor::trace_list_test
