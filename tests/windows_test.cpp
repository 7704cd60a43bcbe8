// The number of threads, and where windows happen to end, must not show in any result.

#include <doctest/doctest.h>

#include <atomic>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/ordered_work.h"
#include "built_paths.h"
#include "diagnose/catalog.h"
#include "pipeline.h"
#include "report/report.h"
#include "shown_page.h"

namespace doctor::windows_test {
namespace {

namespace fs = std::filesystem;

/// Everything that is printed about a trace.
std::string pages_of(const fs::path& trace, const WorkOptions& work) {
  const std::vector<std::string> files = {trace.string()};
  const Analysis analysis = diagnose_files(files, {.rules = all_rules(), .work = work});
  return render_json(analysis.measurements, analysis.diagnosis) + to_text(page_document(kTreePage, analysis));
}

std::vector<fs::path> recorded_traces() {
  std::vector<fs::path> traces;
  for (const char* const folder : {"traces", "formats"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(source_dir()) / "testdata" / folder)) {
      const std::string name = entry.path().filename().string();
      if (entry.is_regular_file() && !name.ends_with("expected.json")) traces.push_back(entry.path());
    }
  }
  return traces;
}

/// Squares the numbers 1 .. `count`, which are taken in order; where `fails_at` is taken or worked on, it throws.
std::vector<int> squares(unsigned threads, int count, int fails_at_take = 0, int fails_at_work = 0) {
  int taken = 0;
  const auto take = [&](int& item) {
    if (taken == count) return false;
    item = ++taken;
    if (item == fails_at_take) throw std::runtime_error("take");
    return true;
  };
  const auto work = [&](int& item) {
    if (item == fails_at_work) throw std::runtime_error("work");
    item *= item;
  };
  std::vector<int> results;
  OrderedWork<int, decltype(take), decltype(work)> row(threads, take, work);
  try {
    while (const int* item = row.next()) results.push_back(*item);
  } catch (const std::runtime_error&) {
    results.push_back(-1);
  }
  return results;
}

}  // namespace

TEST_CASE("every recorded trace gives the same pages with any number of threads and any windows") {
  const std::vector<fs::path> traces = recorded_traces();
  REQUIRE(traces.size() > 20);
  for (const fs::path& trace : traces) {
    CAPTURE(trace.string());
    const std::string expected = pages_of(trace, {});
    for (const unsigned threads : {1u, 2u, 3u}) {
      for (const std::size_t window_size : {std::size_t{100}, std::size_t{7'000}, WorkOptions{}.window_size}) {
        CAPTURE(threads);
        CAPTURE(window_size);
        WorkOptions work;
        work.threads = threads;
        work.window_size = window_size;
        CHECK(pages_of(trace, work) == expected);
      }
    }
  }
}

TEST_CASE("work of several threads is handed on in order") {
  std::vector<int> expected;
  for (int number = 1; number <= 1000; ++number) expected.push_back(number * number);
  for (const unsigned threads : {1u, 2u, 5u}) {
    CAPTURE(threads);
    CHECK(squares(threads, 1000) == expected);
    CHECK(squares(threads, 0).empty());
  }
}

TEST_CASE("an exception takes the place of its item and ends the work") {
  for (const unsigned threads : {1u, 2u, 5u}) {
    CAPTURE(threads);
    CHECK(squares(threads, 9, 4) == std::vector<int>{1, 4, 9, -1});
    CHECK(squares(threads, 9, 0, 3) == std::vector<int>{1, 4, -1});
  }
}

TEST_CASE("abandoned work leaves the items that were taken, in order") {
  for (const unsigned threads : {1u, 2u, 5u}) {
    CAPTURE(threads);
    int taken = 0;
    const auto take = [&](int& item) {
      item = ++taken;
      return true;
    };
    const auto work = [](int&) {};
    OrderedWork<int, decltype(take), decltype(work)> row(threads, take, work);
    REQUIRE(row.next() != nullptr);
    REQUIRE(*row.next() == 2);
    int next = 3;
    row.abandon([&](int item) { CHECK(item == next++); });
    CHECK(next == taken + 1);
    CHECK(row.next() == nullptr);
  }
}

}  // namespace doctor::windows_test
