#include "diagnose/loaders.h"

#include <fmt/format.h>

#include "diagnose/user_code.h"
#include "text/numbers.h"
#include "trace/event_kind.h"

namespace doctor {
namespace {

constexpr std::string_view kTfData = "tf.data";
constexpr std::string_view kGrain = "Grain";

/// TensorFlow's profiler records tf.data, JAX's everything else.
Advice record_both(std::string action) {
  return {{std::move(action), "tf.data is in TensorFlow's trace alone, JAX in JAX's. They are read as one."},
          "python -m tfdata_doctor train.py"};
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

std::string describe_loader(const HostMeasurement& host, const PipelineMeasurement& pipeline) {
  if (pipeline.next_of.empty()) return {};
  if (const BatchMaking* const making = batch_making_of(host, pipeline); making && !making->function.empty()) {
    return fmt::format("{}, {} for a batch", describe(*making), format_time(making->typical));
  }
  const std::string recorder = host.framework.empty() ? "the trace" : "the trace, which is " + host.framework + "'s,";
  return fmt::format("{} shows how long the loop waits in next() of {}, and nothing inside of it", recorder,
                     pipeline.next_of);
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
  if (const BatchMaking* const making = batch_making_of(host, pipeline)) {
    return {more_workers_of_keras("PyDataset", making)};
  }
  if (loader == kTfData) return {record_both("Record with both profilers at once")};
  if (loader == kGrain) {
    return {{"Make elements in worker processes, ahead of the loop",
             "dataset = dataset.mp_prefetch(grain.MultiprocessingOptions(num_workers=8))  # or worker_count=8"},
            {"Ask Grain which of its transformations takes the time",
             "grain.config.update('py_debug_mode', True)  # before the dataset is made"}};
  }
  return {
      {"Make batches in worker processes, ahead of the loop",
       "loader = torch.utils.data.DataLoader(dataset, batch_size=n, num_workers=8, prefetch_factor=2,\n"
       "                                     persistent_workers=True, pin_memory=True)"},
      {{"Record with num_workers=0 to see what a batch costs", "Its Python then runs in the thread that is recorded."},
       "with torch.profiler.profile(with_stack=True) as profiler: ..."}};
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
