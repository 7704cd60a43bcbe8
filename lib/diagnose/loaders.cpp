#include "diagnose/loaders.h"

#include <fmt/format.h>

#include "diagnose/user_code.h"
#include "text/numbers.h"

namespace doctor {
namespace {

/// TensorFlow's profiler records tf.data, JAX's everything else.
Advice record_both(std::string action) {
  return {{std::move(action), "tf.data is in TensorFlow's trace alone, JAX in JAX's. They are read as one."},
          "python -m tfdata_doctor train.py"};
}

/// "; they wait 40% of it for Python's lock", where they do; else empty.
std::string describe_lock(const BatchMaking& making) {
  constexpr double kMuch = 0.1;  // chosen: less is not worth a sentence
  Picoseconds work = 0;
  Picoseconds for_lock = 0;
  for (const LoaderStage& stage : making.stages) {
    work += stage.in_makers;
    for_lock += stage.for_lock;
  }
  const double share = static_cast<double>(for_lock) / static_cast<double>(std::max<Picoseconds>(work + for_lock, 1));
  return share < kMuch ? std::string()
                       : fmt::format("; besides, they wait for Python's lock {} of the time", format_share(share));
}

/// "Grain's map (parse at train.py:10): 97% of the work of 16 threads, 171 ms for a batch".
std::string describe_slowest_stage(const BatchMaking& making, const std::string& loader) {
  const std::string words = fmt::format("{}'s {}: {} of the work ", loader == kTorchLoader ? "the DataLoader" : loader,
                                        describe(*making.slowest_stage()), format_share(making.slowest->share));
  if (making.slowest->is_in_next) return words + "that next() does in the loop's own thread";
  return words + fmt::format("of {}, {} for a batch{}", format_count(making.workers, "thread"),
                             format_time(making.typical), describe_lock(making));
}

/// More than this share of a stage's time in calls that only wait: more threads help, and processes no more than these.
constexpr double kMostlyBlocked = 0.5;
/// Less than this share of a stage's time in the user's function: the rest is what a call for each element takes.
constexpr double kMostlyOverhead = 0.3;
/// Of all work: less in a stage that hands over is not worth showing.
constexpr Picoseconds kShownPart = 100;
/// The default of `num_threads` in grain.ReadOptions (0.2.18).
constexpr std::int64_t kThreadsOfGrain = 16;
/// The default of `prefetch_buffer_size` in grain.ReadOptions (0.2.18).
constexpr std::int64_t kBufferOfGrain = 500;

double part_of(const LoaderStage& stage, Picoseconds time) {
  return stage.time() > 0 ? static_cast<double>(time) / static_cast<double>(stage.time()) : 0;
}

Advice grain_threads(const BatchMaking& making) {
  const std::size_t seen = making.made_by == MadeBy::threads ? making.workers : 0;
  const std::int64_t threads = making.options.threads.value_or(static_cast<std::int64_t>(seen));
  const std::int64_t more = threads > 0 ? 2 * threads : kThreadsOfGrain;
  const std::string options =
      fmt::format("grain.ReadOptions(num_threads={}, prefetch_buffer_size={})", more,
                  std::max(2 * more, std::min(kBufferOfGrain, making.options.buffer.value_or(0))));
  return {{threads > 0 ? "Make elements in more threads" : "Make elements in threads, ahead of the loop",
           "It mostly waits, and while it waits it holds neither a core nor Python's lock."},
          making.is_data_loader ? fmt::format("loader = grain.DataLoader(..., read_options={})", options)
                                : fmt::format("dataset = dataset.to_iter_dataset({})", options)};
}

Advice grain_processes(const BatchMaking& making) {
  return {{"Make elements in worker processes", "Each has a Python of its own; threads of one process share its lock."},
          making.is_data_loader ? "loader = grain.DataLoader(..., worker_count=os.cpu_count())"
                                : "dataset = dataset.mp_prefetch(grain.MultiprocessingOptions(\n"
                                  "    num_workers=os.cpu_count()))  # after to_iter_dataset()"};
}

Advice more_grain_processes(const BatchMaking& making) {
  const std::string count = making.options.processes ? fmt::format("{}", 2 * *making.options.processes) : "n";
  const std::string now = making.options.processes ? fmt::format("  # {} now", *making.options.processes) : "";
  return {{"Use more worker processes, if cores are free", "The loop waits for those that there are."},
          making.is_data_loader
              ? fmt::format("loader = grain.DataLoader(..., worker_count={}, worker_buffer_size=2){}", count, now)
              : fmt::format("dataset = dataset.mp_prefetch(grain.MultiprocessingOptions(\n"
                            "    num_workers={}, per_worker_buffer_size=2)){}",
                            count, now)};
}

Advice record_without_processes(const BatchMaking& making) {
  return {{"Record without worker processes to see which stage takes the time",
           "All of its Python then runs in the process that is recorded."},
          making.is_data_loader ? "loader = grain.DataLoader(..., worker_count=0)"
                                : "grain.MultiprocessingOptions(num_workers=0)"};
}

Advice batch_before(const LoaderStage& stage) {
  return {{fmt::format("Batch before {}, and let its function work on whole batches", stage.name),
           "Most of its time is what a call for each element takes."},
          stage.name == "map" ? "dataset = dataset.batch(batch_size).map(f_of_a_batch)" : std::optional<std::string>()};
}

/// next() counts the elements in the buffer that are ready, for each that it takes.
Advice batch_before_buffer() {
  return {{"Batch before to_iter_dataset(), or keep fewer elements ready",
           "next() looks through the buffer for each element that it takes."},
          "dataset = dataset.batch(batch_size).to_iter_dataset()"};
}

Advice before_workers(const LoaderStage& stage) {
  return {{fmt::format("Do {} before to_iter_dataset() or mp_prefetch()", stage.name),
           "What stands after them runs in the thread of the training loop."},
          std::nullopt};
}

/// With Python's frames, the loop's waits have names.
Advice record_frames() {
  return {{"Record Python's calls as well", "They show the stages of the loader and the functions in them."},
          "python -m tfdata_doctor train.py\n"
          "# or: options = jax.profiler.ProfileOptions(); options.python_tracer_level = 1\n"
          "#     jax.profiler.start_trace(logdir, profiler_options=options)"};
}

std::vector<Advice> advice_about_grain(const BatchMaking* making) {
  if (making == nullptr) return {record_frames()};
  if (is_made_elsewhere(*making)) return {more_grain_processes(*making), record_without_processes(*making)};
  const LoaderStage* const stage = making->slowest_stage();
  if (stage == nullptr) return {record_frames()};
  std::vector<Advice> advice;
  const bool is_small = stage->name == "map" && part_of(*stage, stage->in_functions) < kMostlyOverhead;
  if (is_small) advice.push_back(batch_before(*stage));
  if (making->slowest->is_in_next && making->made_by != MadeBy::loop) {
    advice.push_back(stage->hands_over        ? batch_before_buffer()
                     : making->is_data_loader ? grain_processes(*making)
                                              : before_workers(*stage));
    return advice;
  }
  const bool is_blocked = part_of(*stage, stage->blocked) > kMostlyBlocked;
  if (is_blocked) advice.push_back(grain_threads(*making));
  if (making->made_by != MadeBy::processes) advice.push_back(grain_processes(*making));
  return advice;
}

Advice record_in_loop(std::optional<std::string> code) {
  return {
      {"Record with num_workers=0 to see what a batch costs", "Its Python then runs in the thread that is recorded."},
      std::move(code)};
}

std::vector<Advice> advice_about_torch(const BatchMaking* making) {
  if (making != nullptr && making->made_by == MadeBy::processes) {
    return {{{"Use more worker processes, or let each work further ahead", "The loop waits for those that there are."},
             "loader = torch.utils.data.DataLoader(\n"
             "    dataset, batch_size=n, num_workers=more, prefetch_factor=4,\n"
             "    persistent_workers=True, pin_memory=True)"},
            record_in_loop(std::nullopt)};
  }
  const Advice workers = {{"Make batches in worker processes, ahead of the loop"},
                          "loader = torch.utils.data.DataLoader(\n"
                          "    dataset, batch_size=n, num_workers=8, prefetch_factor=2,\n"
                          "    persistent_workers=True, pin_memory=True)"};
  if (making != nullptr && making->slowest) return {workers};
  return {workers, record_in_loop("with torch.profiler.profile(with_stack=True) as profiler: ...")};
}

/// A stage comes after those that it takes its elements from, which are in the order of their first calls.
void add_in_order_of_elements(const std::vector<LoaderStage>& stages, std::size_t consumer,
                              std::vector<const LoaderStage*>& ordered) {
  for (std::size_t index = 0; index < stages.size(); ++index) {
    if (stages[index].consumer != consumer) continue;
    add_in_order_of_elements(stages, index, ordered);
    ordered.push_back(&stages[index]);
  }
}

}  // namespace

std::string foreign_framework(const Measurements& measurements) {
  std::string framework;
  for (const HostMeasurement& host : measurements.hosts) {
    if (host.event_count == 0) continue;
    if (host.framework.empty()) return {};
    framework = host.framework;
  }
  return framework;
}

bool is_of_torch(const Measurements& measurements) {
  return foreign_framework(measurements) == kPyTorch;
}

std::string describe_loader(const HostMeasurement& host, const PipelineMeasurement& pipeline) {
  if (pipeline.next_of.empty()) return {};
  if (const BatchMaking* const making = batch_making_of(host, pipeline)) {
    const bool is_of_keras = making->is_of_keras && !making->function.empty();
    if (is_of_keras) return fmt::format("{}, {} for a batch", describe(*making), format_time(making->typical));
    if (is_made_elsewhere(*making)) {
      const std::int64_t count = making->options.processes.value_or(0);
      return fmt::format("{} of {}, of which the trace shows nothing",
                         count > 1 ? fmt::format("{} worker processes", count) : "worker processes",
                         making->is_of_keras ? "Keras" : pipeline.next_of);
    }
    if (making->slowest) return describe_slowest_stage(*making, pipeline.next_of);
  }
  const std::string recorder = host.framework.empty() ? "the trace" : "the trace, which is " + host.framework + "'s,";
  return fmt::format("{} shows how long the loop waits in next() of {}, and nothing inside of it", recorder,
                     pipeline.next_of);
}

std::string describe_stages(const BatchMaking& making) {
  if (is_made_elsewhere(making)) return {};
  Picoseconds all = 0;
  for (const LoaderStage& stage : making.stages) all += stage.time();
  if (all <= 0) return {};
  std::string text;
  std::vector<const LoaderStage*> ordered;
  add_in_order_of_elements(making.stages, LoaderStage::kNone, ordered);
  for (const LoaderStage* const stage : ordered) {
    if (!text.empty()) text += " > ";
    text += stage->name;
    if (stage->hands_over && stage->time() * kShownPart < all) continue;
    text += " " + format_share(static_cast<double>(stage->time()) / static_cast<double>(all));
  }
  return text;
}

Advice record_with_package() {
  return {{"Record the training with the Python package", "It clocks every batch that is taken out of the queue."},
          "python -m tfdata_doctor train.py"};
}

Advice more_workers_of_keras(std::string_view maker, const BatchMaking* making) {
  const bool are_processes = making != nullptr && making->has_queue && making->function.empty();
  // API references of keras.utils.Sequence (Keras 2) and keras.utils.PyDataset (Keras 3).
  std::string code = maker == "Sequence" ? "model.fit(batches, workers=cores, use_multiprocessing=True)"
                                         : "batches.workers = cores  # your keras.utils.PyDataset, before fit\n"
                                           "batches.use_multiprocessing = True";
  return {{fmt::format("Let {} processes make the batches of your {}", are_processes ? "more" : "several", maker),
           "Each has a Python of its own."},
          std::move(code)};
}

std::string describe_queue_alone(const Measurements& measurements) {
  for (const HostMeasurement& host : measurements.hosts) {
    if (!host.batch_making) continue;
    return fmt::format(
        "Python's frames show how Keras makes batches of a PyDataset ({}), but not the training that "
        "takes them",
        describe(*host.batch_making));
  }
  return {};
}

std::vector<Advice> advice_about_loader(const HostMeasurement& host, const PipelineMeasurement& pipeline) {
  const std::string& loader = pipeline.next_of;
  const BatchMaking* const making = batch_making_of(host, pipeline);
  if (making != nullptr && making->is_of_keras) return {more_workers_of_keras("PyDataset", making)};
  if (loader == kTfData) return {record_both("Record with both profilers at once")};
  return loader == kGrain ? advice_about_grain(making) : advice_about_torch(making);
}

LoaderBuffering buffering_of_loader(const HostMeasurement& host, const PipelineMeasurement& pipeline,
                                    std::size_t batches) {
  const BatchMaking* const making = batch_making_of(host, pipeline);
  if (pipeline.next_of == kTorchLoader) {
    return {
        fmt::format(
            "loader = torch.utils.data.DataLoader(\n    dataset, ..., prefetch_factor={})  # batches of each worker",
            batches),
        "loader = torch.utils.data.DataLoader(\n    dataset, ..., persistent_workers=True)"};
  }
  if (pipeline.next_of == kGrain) {
    const double elements = making != nullptr ? making->elements_per_batch : 1;
    std::string ready =
        making != nullptr && making->made_by == MadeBy::processes
            ? fmt::format("grain.MultiprocessingOptions(num_workers=n, per_worker_buffer_size={})", batches)
            : fmt::format("grain.ReadOptions(prefetch_buffer_size={:.0f})", elements * static_cast<double>(batches));
    return {std::move(ready), "dataset = dataset.repeat()  # before to_iter_dataset()"};
  }
  if (making == nullptr || !making->is_of_keras) return {};
  return {fmt::format("batches.max_queue_size = {}  # your keras.utils.PyDataset, before fit", batches), std::nullopt};
}

std::vector<Advice> advice_for_framework(const std::string& framework) {
  if (framework == "JAX") {
    return {record_both("If the job reads with tf.data, record with both profilers at once"),
            {{"If it reads with another loader, record Python's calls as well",
              "They show how long the loop waits in next()."},
             "options = jax.profiler.ProfileOptions()\n"
             "options.python_tracer_level = 1\n"
             "jax.profiler.start_trace(logdir, profiler_options=options)"}};
  }
  return {{{"Record some whole steps, the loader's next() included",
            "Of a DataLoader this tool says how long the loop waits for it, where the trace has the loop over it."},
           "with torch.profiler.profile() as profiler:\n"
           "  for batch, _ in zip(loader, range(30)):\n"
           "    train_step(batch)\n"
           "profiler.export_chrome_trace('trace.json')"}};
}

}  // namespace doctor
