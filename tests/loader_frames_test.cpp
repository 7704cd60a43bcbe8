// What Python's frames show of loaders that are written in Python: the stages of Grain, the user's functions in them,
// who runs them, and PyTorch's DataLoader in JAX's and PyTorch's own traces.

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "built_paths.h"
#include "diagnose/catalog.h"
#include "diagnose/user_code.h"
#include "pipeline.h"
#include "report/page.h"
#include "report/report.h"
#include "shown_page.h"
#include "synthetic_trace.h"
#include "temporary_directory.h"
#include "unwrapped.h"

namespace doctor::loader_frames_test {
namespace {

namespace fs = std::filesystem;

constexpr int kSteps = 60;
constexpr double kStepUs = 10'000;

/// A frame and those inside of it, one after another from its start.
struct Frames {
  std::string name;
  double us = 0;
  std::vector<Frames> inside = {};
};

void add(SyntheticTrace& trace, const std::string& thread, double start, const Frames& frames) {
  trace.add(thread, frames.name, start, frames.us);
  double next = start + 0.1;
  for (const Frames& inner : frames.inside) {
    add(trace, thread, next, inner);
    next += inner.us;
  }
}

/// An element of a pipeline: a map of rows in a batch, of which the user's function takes most of the time.
Frames batch_of(double us, const std::string& inner_call = "$numpy multiply") {
  return {"$batch.py:444 __getitem__",
          us,
          {{"$map.py:163 __getitem__",
            0.95 * us,
            {{"$source.py:80 __getitem__", 0.01 * us, {{"$train.py:5 __getitem__", 0.005 * us}}},
             {"$stats.py:361 record_self_time", 0.01 * us},
             {"$map.py:158 _map_element", 0.9 * us, {{"$train.py:10 parse", 0.9 * us, {{inner_call, 0.85 * us}}}}}}}}};
}

/// next() of Grain, with what happens in it.
Frames next_of(double us, const Frames& inside) {
  return {"$stats.py:320 wrapper", us, {{"$prefetch.py:238 __next__", us - 1, {inside}}}};
}

Frames waiting(double us) {
  return {"$_base.py:428 result", us, {{"$<unknown> acquire", 0.98 * us}}};
}

struct GrainJob {
  double wait_us = 6000;  ///< of each step
  int threads = 2;        ///< 0: the loop itself makes them
  int made = kSteps;      ///< batches that threads make
  std::string inner_call = "$numpy multiply";
};

double start_of(int step) {
  return 1000 + step * kStepUs;
}

void add_threads(const GrainJob& job, SyntheticTrace& trace) {
  const double each = 0.95 * job.threads * kStepUs;
  for (int batch = 0; batch < job.made; ++batch) {
    const std::string thread = "python " + std::to_string(batch % job.threads);
    const double start = start_of(batch / job.threads * job.threads);
    add(trace, thread, start, {"$prefetch.py:86 _getitem", each, {batch_of(0.99 * each, job.inner_call)}});
  }
}

SyntheticTrace loop_over_grain(const GrainJob& job) {
  SyntheticTrace trace;
  for (int step = 0; step < kSteps; ++step) {
    const double start = start_of(step);
    add(trace, "main", start,
        next_of(job.wait_us,
                job.threads == 0 ? batch_of(0.9 * job.wait_us, job.inner_call) : waiting(0.9 * job.wait_us)));
    trace.add("main", "PjitFunction(step)", start + job.wait_us, 50);
  }
  if (job.threads > 0) add_threads(job, trace);
  return trace;
}

struct Read {
  Analysis analysis;
  std::string report;
  std::string tree;

  VerdictStatus status() const { return analysis.diagnosis.judgement.status; }
  bool says(const std::string& words) const { return report.find(words) != std::string::npos; }
};

Read read_files(const std::vector<std::string>& files) {
  Read read;
  read.analysis = diagnose_files(files, {.rules = all_rules()});
  const Analysis& analysis = read.analysis;
  read.report = unwrapped(render_text(analysis.measurements, analysis.diagnosis, {.detail = Detail::full}));
  read.tree = unwrapped(page_text(kTreePage, analysis.measurements, analysis.diagnosis));
  return read;
}

Read read(const SyntheticTrace& trace) {
  const TemporaryDirectory directory;
  return read_files({directory.write("job.xplane.pb", trace.to_xspace())});
}

TEST_CASE("a loop that waits for Grain's threads waits for a function of the user's, with its line") {
  const Read found = read(loop_over_grain({}));
  CAPTURE(found.report);
  CHECK(found.status() == VerdictStatus::input_bound);
  CHECK(found.says("Grain's map (parse at train.py:10): 9"));
  CHECK(found.says("of the work of 2 threads"));
  CHECK(found.says("source 1"));
  CHECK(found.says("> batch"));
  CHECK(found.says("mp_prefetch(grain.MultiprocessingOptions("));
  CHECK_FALSE(found.says("ReadOptions"));
  CHECK_FALSE(found.says("nothing inside of it"));
  CHECK(found.tree.find("map <--") != std::string::npos);
}

TEST_CASE("a function that sleeps or reads is given more threads, another one processes") {
  GrainJob job;
  job.inner_call = "$time sleep";
  const Read threads = read(loop_over_grain(job));
  CHECK(threads.says("Make elements in more threads"));
  job.threads = 0;
  const Read loop = read(loop_over_grain(job));
  CAPTURE(loop.report);
  CHECK(loop.says("of the work that next() does in the loop's own thread"));
  CHECK(loop.says("dataset = dataset.to_iter_dataset(grain.ReadOptions(num_threads=16, prefetch_buffer_size=32))"));
  job.inner_call = "$numpy multiply";
  CHECK_FALSE(read(loop_over_grain(job)).says("ReadOptions"));
}

TEST_CASE("a window that lives on what Grain's buffer holds is not judged") {
  GrainJob job;
  job.wait_us = 20;
  for (const int made : {0, 10}) {
    CAPTURE(made);
    job.made = made;
    const Read drained = read(loop_over_grain(job));
    CAPTURE(drained.report);
    CHECK(drained.status() == VerdictStatus::inconclusive);
    CHECK(drained.says("of the 60 recorded batches were ready before the recording began"));
  }
  job.made = kSteps;
  CHECK(read(loop_over_grain(job)).status() == VerdictStatus::healthy);
}

TEST_CASE("nobody waits, but threads that compute in Python may hold the lock that the loop needs") {
  GrainJob job;
  job.wait_us = 20;
  const Read busy = read(loop_over_grain(job));
  CAPTURE(busy.report);
  CHECK(busy.says("may hold the lock that training needs"));
  CHECK(busy.says("2 worker threads hide the"));
  job.inner_call = "$time sleep";
  CHECK_FALSE(read(loop_over_grain(job)).says("may hold the lock"));
}

/// Two threads whose source calls C, which takes no time when a thread has Python's lock, and whose map is in Python.
SyntheticTrace loop_with_lock(const std::string& in_map) {
  GrainJob waiting_job;
  waiting_job.made = 0;
  SyntheticTrace trace = loop_over_grain(waiting_job);
  const double each = 0.95 * 2 * kStepUs;
  for (int batch = 0; batch < kSteps; ++batch) {
    const double in_c = batch < 2 ? 0.001 * each : 0.6 * each;
    std::vector<Frames> calls;
    if (!in_map.empty()) calls.push_back({in_map, 0.29 * each});
    const Frames parse = {"$map.py:158 _map_element", 0.3 * each, {{"$train.py:10 parse", 0.295 * each, calls}}};
    const Frames row = {"$source.py:80 __getitem__",
                        in_c,
                        {{"$train.py:5 __getitem__", 0.98 * in_c, {{"$numpy arange", 0.96 * in_c}}}}};
    add(trace, "python " + std::to_string(batch % 2), start_of(batch / 2 * 2),
        {"$prefetch.py:86 _getitem", each, {{"$map.py:163 __getitem__", 0.99 * each, {row, parse}}}});
  }
  return trace;
}

TEST_CASE("where threads compute in Python, a call into C that waits for its lock is not the slow part") {
  const Read locked = read(loop_with_lock({}));
  CAPTURE(locked.report);
  CHECK(locked.says("Grain's map (parse at train.py:10)"));
  CHECK(locked.says("they wait for Python's lock"));
  const Read asleep = read(loop_with_lock("$time sleep"));
  CAPTURE(asleep.report);
  CHECK(asleep.says("Grain's source (__getitem__ at train.py:5)"));
  CHECK_FALSE(asleep.says("Python's lock"));
}

SyntheticTrace loop_over_processes(double wait_us) {
  SyntheticTrace trace;
  for (int step = 0; step < kSteps; ++step) {
    const double start = start_of(step);
    add(trace, "main", start,
        {"$stats.py:320 wrapper",
         wait_us,
         {{"$interleave.py:96 __next__",
           0.95 * wait_us,
           {{"$prefetch.py:625 __next__", 0.9 * wait_us, {waiting(0.85 * wait_us)}}}}}});
    SyntheticTrace::Event& says = trace.add("main", "InterleaveDatasetIterator.__next__", start + 0.05, wait_us - 0.1);
    says.texts["_ipl_stage_name"] = "InterleaveDatasetIterator([4 datasets], cycle_length=4)";
    trace.add("main", "PjitFunction(step)", start + wait_us + 2, 50);
    const std::string thread = "feeder " + std::to_string(step % 4);
    add(trace, thread, start, {"$stats.py:320 wrapper", 900, {{"$process_prefetch.py:494 __next__", 890}}});
    trace.add(thread, "$queue.py:122 put", start + 1000, 500);
  }
  return trace;
}

TEST_CASE("worker processes are not in the trace, and more of them are advised, not what is there") {
  const Read waiting = read(loop_over_processes(6000));
  CAPTURE(waiting.report);
  CHECK(waiting.says("worker processes of Grain, of which the trace shows nothing"));
  CHECK(waiting.says("the trace shows only the process that trains"));
  CHECK(waiting.says("Use more worker processes"));
  CHECK_FALSE(waiting.says("no part of the pipeline stands out"));
  const Read hidden = read(loop_over_processes(20));
  CAPTURE(hidden.report);
  CHECK(hidden.says("worker processes of Grain make it, which the trace does not show"));
}

TEST_CASE("without Python's frames Grain's own events show the waits, and how to see more is said") {
  SyntheticTrace trace;
  for (int step = 0; step < kSteps; ++step) {
    SyntheticTrace::Event& next = trace.add("main", "PrefetchDatasetIterator.__next__", start_of(step), 6000);
    next.texts["_ipl_stage_name"] =
        "PrefetchDatasetIterator(read_options=ReadOptions(num_threads=2, prefetch_buffer_size=4), allow_nones=False)";
    trace.add("main", "PjitFunction(step)", start_of(step) + 6000, 50);
    trace.add("python " + std::to_string(step % 2), "Prefetch._getitem", start_of(step), 9000);
  }
  const Read found = read(trace);
  CAPTURE(found.report);
  CHECK(found.status() == VerdictStatus::input_bound);
  CHECK(found.says("python_tracer_level"));
}

TEST_CASE("PyTorch's DataLoader shows its dataset where the loop itself makes batches, and its workers as a wait") {
  for (const bool is_jax : {true, false}) {
    CAPTURE(is_jax);
    const auto name = [&](const std::string& file, int line, const std::string& function) {
      const std::string number = std::to_string(line);
      if (is_jax) return "$" + fs::path(file).filename().string() + ":" + number + " " + function;
      return file + "(" + number + "): " + function;
    };
    const auto loop = [&](const Frames& frames) {
      SyntheticTrace trace;
      for (int step = 0; step < kSteps; ++step) {
        add(trace, "main", start_of(step), {name("torch/utils/data/dataloader.py", 630, "__next__"), 6000, {frames}});
        trace.add("main", is_jax ? "PjitFunction(step)" : "aten::mm", start_of(step) + 6000, 50);
      }
      return read(trace);
    };
    const Read own = loop({name("torch/utils/data/_utils/fetch.py", 49, "fetch"),
                           5800,
                           {{name("train.py", 12, "__getitem__"), 5000}, {name("train.py", 20, "join"), 500}}});
    CAPTURE(own.report);
    CHECK(own.says("the DataLoader's dataset (__getitem__ at train.py:12)"));
    CHECK(own.says("num_workers=8"));
    const Read others = loop({name("torch/utils/data/dataloader.py", 1280, "_try_get_data"), 5800});
    CAPTURE(others.report);
    CHECK(others.says("worker processes of PyTorch's DataLoader, of which the trace shows nothing"));
    CHECK(others.says("prefetch_factor=4"));
    CHECK_FALSE(others.says("num_workers=8"));
  }
}

/// Who does the work that is waited for: what next() does itself is the loop's, whatever makes elements ahead of it.
std::string worker_of(const BatchMaking& making) {
  if (making.slowest && making.slowest->is_in_next) return "loop";
  return making.made_by == MadeBy::threads ? "threads" : "processes";
}

/// Whether what is said of a recorded program is what is known of it.
bool is_right(const fs::path& folder) {
  std::ifstream file(folder / "label.json");
  const auto label = nlohmann::json::parse(file);
  const Read found = read_files({(folder / "vm.xplane.pb.gz").string()});
  if (label["verdict"] == "drained") return found.status() == VerdictStatus::inconclusive;
  const auto& host = found.analysis.measurements.hosts.at(0);
  const BatchMaking* const making = host.pipelines.empty() ? nullptr : batch_making_of(host, host.pipelines.front());
  if (making == nullptr) return false;
  if (label["verdict"] == "healthy") return found.status() == VerdictStatus::healthy;
  if (found.status() != VerdictStatus::input_bound || worker_of(*making) != label["made_by"]) return false;
  if (label["stage"].is_null()) return is_made_elsewhere(*making);
  const LoaderStage* const stage = making->slowest_stage();
  if (stage == nullptr || stage->name != label["stage"]) return false;
  if (label["function"].is_null()) return stage->function.empty();
  return stage->function.starts_with(label["function"].get<std::string>() + " at ");
}

TEST_CASE("recorded programs of Grain: who makes elements, the slowest stage and its function are named") {
  int right = 0;
  int all = 0;
  for (const fs::directory_entry& folder : fs::directory_iterator(source_dir() + "/testdata/loaders")) {
    if (!folder.is_directory()) continue;
    ++all;
    const bool is = is_right(folder.path());
    if (!is) MESSAGE("wrong: " << folder.path().filename().string());
    right += is ? 1 : 0;
  }
  CHECK(all >= 8);
  CHECK(right >= all - all / 8);
}

}  // namespace
}  // namespace doctor::loader_frames_test
