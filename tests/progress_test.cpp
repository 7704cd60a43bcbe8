// How far the work has come: what is written down, what is made of it, and the line that shows it.

#include "process/progress.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <vector>

#include "pipeline.h"
#include "process/output.h"
#include "pseudo_terminal.h"
#include "synthetic_trace.h"
#include "temporary_directory.h"

namespace doctor::progress_test {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kMegabyte = 1'000'000;

ProgressView reading(std::uint64_t bytes_done, std::uint64_t bytes_total, std::uint64_t event_count) {
  ProgressView view;
  view.stage = "read";
  view.bytes_done = bytes_done;
  view.bytes_total = bytes_total;
  view.event_count = event_count;
  view.in_stage = 12s;
  return view;
}

ProgressView half_read() {
  ProgressView view = reading(412 * kMegabyte, 1'027 * kMegabyte, 9'800'000);
  view.left = 3s;
  return view;
}

/// A Progress as diagnose_files() and a reader leave it in the middle of a file.
struct Reading {
  Progress progress;

  explicit Reading(std::uint64_t bytes_total) {
    progress.stage = "read";
    progress.bytes_total = bytes_total;
  }

  void at(std::uint64_t position, std::uint64_t event_count) {
    progress.bytes_read = position;
    progress.event_count = event_count;
  }
};

}  // namespace

TEST_CASE("the line says how much is read, and leaves out what does not fit, the least important first") {
  const std::vector<std::pair<std::size_t, std::string>> lines = {
      {100, "reading  412 of 1,027 MB [############------------------]  40%  9.8 M events  3 s left"},
      {79, "reading  412 of 1,027 MB [#########--------------]  40%  9.8 M events  3 s left"},
      {62, "reading  412 of 1,027 MB [##----]  40%  9.8 M events  3 s left"},
      {61, "reading  412 of 1,027 MB [##---]  40%  9.8 M events  3 s left"},
      {54, "reading  412 of 1,027 MB  40%  9.8 M events  3 s left"},
      {53, "reading  412 of 1,027 MB  40%  9.8 M events  3 s left"},
      {40, "reading  412 of 1,027 MB  40%  3 s left"},
      {39, "reading  412 of 1,027 MB  40%  3 s left"},
      {23, "reading  40%  3 s left"},
      {22, "reading  40%  3 s left"},
      {13, "reading  40%"},
      {12, "reading  40%"},
      {7, "reading"},
      {6, ""},
      {0, ""},
  };
  for (const auto& [width, line] : lines) {
    const std::string shown = progress_line(half_read(), width);
    CHECK(shown == line);
    CHECK(shown.size() <= width);
  }
}

TEST_CASE("the line stays sane at the ends of the scale and where the total is unknown") {
  const std::size_t width = 70;
  CHECK(progress_line(reading(0, 733'414, 0), width) == "reading  0 of 733 kB [------------------------------]   0%");
  CHECK(progress_line(reading(733'414, 733'414, 1), width) ==
        "reading  733 of 733 kB [##############################]  100%  1 event");
  CHECK(progress_line(reading(0, 0, 0), width) == "reading  0 B  12 s");
  CHECK(progress_line(reading(9'999, 0, 999'999), width) == "reading  9,999 B  999,999 events  12 s");
  CHECK(progress_line(reading(10'000, 0, 1'000'000), width) == "reading  10 kB  1.0 M events  12 s");
  // The file grew while it was read: its size is no longer the total.
  CHECK(progress_line(reading(1'030 * kMegabyte, 1'027 * kMegabyte, 0), width) == "reading  1,030 MB  12 s");
  ProgressView huge = reading(UINT64_MAX - 1, UINT64_MAX, UINT64_MAX);
  huge.left = 23h;
  CHECK(progress_line(huge, 120) ==
        "reading  18,446,744,073 of 18,446,744,073 GB [##########################]  100%  18446744073.7 G events  23 h "
        "0 min left");
}

TEST_CASE("stages without bytes show how long they take; files and passes are numbered where there are several") {
  ProgressView view = half_read();
  view.stage = "build tree";
  view.in_stage = 75s;
  CHECK(progress_line(view, 79) == "building the tree  1 min 15 s");
  view.file_count = 12;
  view.file_index = 2;
  CHECK(progress_line(view, 79) == "building the tree 3 of 12  1 min 15 s");
  view.stage = "diagnose";
  CHECK(progress_line(view, 79) == "diagnosing  1 min 15 s");
  view.stage = "";
  view.file_count = 1;
  CHECK(progress_line(view, 79) == "starting  1 min 15 s");
  view.stage = "a stage of tomorrow";
  CHECK(progress_line(view, 79) == "a stage of tomorrow  1 min 15 s");
  view.stage = "read";
  view.pass = 2;
  CHECK(progress_line(view, 62) == "reading, pass 2  412 of 1,027 MB  40%  9.8 M events  3 s left");
}

TEST_CASE("the time left follows from the speed of the pass that reads events") {
  Reading reading(1'000);
  ProgressWatch watch(reading.progress, 1);
  CHECK_FALSE(watch.look(0s).left);
  reading.at(100, 10);
  CHECK_FALSE(watch.look(400ms).left);  // too early to say
  CHECK(watch.look(1s).left == 9s);
  reading.at(500, 50);
  CHECK(watch.look(5s).left == 5s);
  CHECK(watch.look(5s).in_stage == 5s);
  reading.at(1'000, 100);
  CHECK_FALSE(watch.look(10s).left);
  reading.at(1'001, 100);
  CHECK_FALSE(watch.look(11s).left);
}

TEST_CASE("a file that is read again gets no nonsense for a time left") {
  Reading reading(1'000);
  ProgressWatch watch(reading.progress, 1);
  reading.at(900, 0);
  CHECK_FALSE(watch.look(1s).left);  // a pass without events only prepares another
  CHECK(watch.look(1s).pass == 1);
  reading.at(0, 0);
  const ProgressView restarted = watch.look(2s);
  CHECK(restarted.pass == 2);
  CHECK_FALSE(restarted.left);
  reading.at(100, 10);
  CHECK(watch.look(3s).left == 9s);  // the first pass does not count
  reading.at(90, 11);                // a thread that is behind
  CHECK(watch.look(4s).pass == 2);
  // Threads that are quick have found events in the new pass before anyone looked.
  reading.at(40, 4);
  const ProgressView again = watch.look(5s);
  CHECK(again.pass == 3);
  CHECK_FALSE(again.left);
  reading.at(160, 16);
  CHECK(watch.look(6s).left == 7s);
}

TEST_CASE("time that goes by before the first events is no measure of the speed") {
  Reading reading(1'000);
  ProgressWatch watch(reading.progress, 1);
  CHECK_FALSE(watch.look(99s).left);
  reading.at(100, 10);
  CHECK(watch.look(100s).left == 9s);
  reading.at(200, 20);
  CHECK(watch.look(101s).left == 8s);
  // Another reader reports where it is before it knows of any events.
  reading.at(0, 0);
  CHECK_FALSE(watch.look(200s).left);
  reading.at(500, 0);
  CHECK_FALSE(watch.look(202s).left);
  reading.at(600, 10);
  CHECK(watch.look(203s).left == 4s);
}

TEST_CASE("a speed near zero gives no time left") {
  Reading reading(1'000'000'000);
  ProgressWatch watch(reading.progress, 1);
  reading.at(1, 1);
  CHECK_FALSE(watch.look(10s).left);
}

TEST_CASE("with several files the ones that are done tell how long the rest takes") {
  Reading reading(1'000);
  Progress& progress = reading.progress;
  ProgressWatch watch(progress, 2);
  reading.at(300, 0);
  watch.look(0s);
  reading.at(0, 0);
  CHECK(watch.look(0s).pass == 2);
  reading.at(400, 4);
  CHECK(watch.look(4s).left == 6s);
  // The first file took 10 s with its tree and its numbers.
  progress.stage = "measure";
  CHECK_FALSE(watch.look(6s).left);
  reading.at(0, 0);
  progress.bytes_before = 500;
  progress.events_before = 5;
  progress.file_index = 1;
  progress.stage = "read";
  const ProgressView begun = watch.look(10s);
  CHECK(begun.pass == 1);
  CHECK(begun.left == 10s);
  CHECK(begun.in_stage == 0s);
  reading.at(250, 0);
  CHECK(watch.look(10s).left == 10s);  // the names of the second file
  reading.at(250, 2);
  const ProgressView half = watch.look(11s);
  CHECK(half.left == 5s);
  CHECK(half.bytes_done == 750);
  CHECK(half.event_count == 7);
  CHECK(half.file_index == 1);
  CHECK(half.file_count == 2);
}

TEST_CASE("files that could not be read say nothing about the speed") {
  Reading reading(1'000);
  ProgressWatch watch(reading.progress, 2);
  reading.at(300, 0);
  CHECK_FALSE(watch.look(10s).left);
  reading.progress.file_index = 1;
  reading.at(0, 1);
  const ProgressView begun = watch.look(20s);
  CHECK_FALSE(begun.left);
  CHECK(begun.in_stage == 0s);
  reading.at(100, 10);
  CHECK(watch.look(21s).left == 9s);
}

TEST_CASE("an analysis adds up the files that are done, readable or not") {
  SyntheticTrace trace;
  trace.iterator("main", "Iterator::Root", 1, 0, 0, 100);
  const TemporaryDirectory folder;
  const std::vector<std::string> files = {folder.write("a.trace.json", trace.to_chrome_json()),
                                          folder.write("b.trace.json", "no trace"), folder / "missing",
                                          folder.write("c.trace.json", trace.to_chrome_json())};
  const std::uint64_t size = trace.to_chrome_json().size();
  Progress progress;
  const Analysis analysis = diagnose_files(files, {.work = {.progress = &progress}});
  CHECK(progress.bytes_total == 2 * size + 8);
  CHECK(progress.bytes_before == progress.bytes_total);
  CHECK(progress.events_before == 2 * analysis.measurements.hosts.front().event_count);
  CHECK(progress.events_before > 0);
  CHECK(progress.file_index == 3);
  CHECK(progress.bytes_read == 0);
  CHECK(progress.event_count == 0);
  CHECK(std::string_view(progress.stage.load()) == "diagnose");

  // A pipe has no size beforehand.
  int ends[2] = {-1, -1};
  REQUIRE(::pipe(ends) == 0);
  ::close(ends[1]);
  Progress unknown;
  diagnose_files(std::vector<std::string>{files.front(), "/dev/fd/" + std::to_string(ends[0])},
                 {.work = {.progress = &unknown}});
  ::close(ends[0]);
  CHECK(unknown.bytes_total == 0);
  CHECK(unknown.bytes_before == size);
}

TEST_CASE("the bar is drawn over itself within the width of the terminal, and erased at its end") {
  PseudoTerminal terminal(50);
  StatusLine line(terminal.descriptor());
  Reading reading(1'000);
  {
    const ProgressBar bar(reading.progress, 1, line, {0ms, 1ms});
    terminal.wait_for("\rreading  0 of 1,000 B [--------------------]   0%\x1b[K");
    reading.at(500, 7);
    terminal.wait_for("\rreading  500 of 1,000 B [####----]  50%  7 events\x1b[K");
  }
  const std::string& written = terminal.hang_up();
  CHECK(written.ends_with("\x1b[K\r\x1b[K"));
}

TEST_CASE("a bar that is over before its delay has drawn nothing") {
  PseudoTerminal terminal(50);
  StatusLine line(terminal.descriptor());
  Reading reading(1'000);
  { const ProgressBar bar(reading.progress, 1, line, {std::chrono::hours(1), 1ms}); }
  CHECK(terminal.hang_up().empty());
}

TEST_CASE("a closed status line shows nothing more") {
  PseudoTerminal terminal(50);
  StatusLine line(terminal.descriptor());
  line.erase();
  line.show("one");
  line.show("two");
  line.close();
  line.show("three");
  line.erase();
  CHECK(terminal.hang_up() == "\rone\x1b[K\rtwo\x1b[K\r\x1b[K");
}

TEST_CASE("the width is that of the terminal, else COLUMNS, else 80; the last column stays free") {
  const PseudoTerminal terminal(50);
  CHECK(StatusLine(terminal.descriptor()).width() == 49);
  const PseudoTerminal unknown(0);
  {
    const EnvironmentVariable columns("COLUMNS", "61");
    CHECK(StatusLine(unknown.descriptor()).width() == 60);
  }
  const EnvironmentVariable columns("COLUMNS", "wide");
  CHECK(StatusLine(unknown.descriptor()).width() == 79);
}

TEST_CASE("a bar is wanted where a person looks at a terminal that can draw") {
  const EnvironmentVariable kind("TERM", "xterm");
  const PseudoTerminal terminal(80);
  const TemporaryDirectory folder;
  const FileDescriptor file(::open(folder.write("errors", "").c_str(), O_WRONLY | O_CLOEXEC));
  CHECK(wants_progress_bar(false, terminal.descriptor()));
  CHECK_FALSE(wants_progress_bar(false, file.number()));
  CHECK_FALSE(wants_progress_bar(true, terminal.descriptor()));
  const EnvironmentVariable dumb("TERM", "dumb");
  CHECK_FALSE(wants_progress_bar(false, terminal.descriptor()));
}

}  // namespace doctor::progress_test
