#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "gpu_trace.h"

// Traces of GPU hosts written by hand, for the cases of rules about devices: no recorded one that may be shipped shows
// the fault. Each is a loop of steps: GetNext, a copy to the device, then kernels one after another.

struct WrittenGpuJob {
  int steps = 10;
  bool is_device_recorded = true;  ///< else the trace names the device and has nothing that ran on it
  double get_next_us = 20;
  double copy_us = 100;
  bool copies_ahead = false;  ///< the next batch is copied while the kernels run
  int kernels = 10;
  double kernel_us = 190;
  double gap_us = 2;
  bool is_asynchronous = false;  ///< kernels of the step before fill GetNext and the copy
  double python_us = 0;          ///< at the end of each step nothing runs but Python
  enum class Feed { one_device, two_in_turn, two_at_once };
  Feed feed = Feed::one_device;  ///< a second device gets batches, by the same thread or by one of its own
  double other_kernel_us = 0;    ///< of a second device with the same kernels; the faster one waits in an all-reduce
  GpuTrace::Kernel kernel = {
      "volta_sgemm_128x64_nn", "model/dense/Relu:Relu", "regs:122 shm:12544 grid:8,4,1 block:128,1,1", {}};

  static constexpr double kAllReduce = 20;
  double computing_us() const {
    return kernels * (std::max(kernel_us, other_kernel_us) + gap_us) + (other_kernel_us > 0 ? kAllReduce : 0);
  }
  double copying_us() const { return copies_ahead ? 0 : copy_us * (feed == Feed::two_in_turn ? 2 : 1); }
  double step_us() const { return get_next_us + copying_us() + computing_us() + python_us; }
  GpuTrace to_trace() const;
  void add_copies(int step, double start, SyntheticTrace& host) const;
  void add_copies(int step, double start, GpuTrace& trace) const;
  void add_replica(const std::string& device, double each_us, double start, GpuTrace& trace) const;
};

/// The calls of the driver that start the copies to two devices.
inline void WrittenGpuJob::add_copies(int step, double start, SyntheticTrace& host) const {
  if (feed == Feed::one_device) return;
  for (int device = 0; device < 2; ++device) {
    const bool is_in_turn = feed == Feed::two_in_turn;
    const std::string thread = is_in_turn || device == 0 ? "python" : "feeder";
    const double begin = start + (is_in_turn ? device * copy_us : 0);
    host.add(thread, "MemcpyH2D", begin, 10).ids["correlation_id"] =
        static_cast<std::uint64_t>(1001 + 2 * step + device);
  }
}

inline void WrittenGpuJob::add_copies(int step, double start, GpuTrace& trace) const {
  if (feed == Feed::one_device) return void(trace.copy("H2D", start, copy_us, 1 << 20));
  for (int device = 0; device < 2; ++device) {
    const double begin = start + (feed == Feed::two_in_turn ? device * copy_us : 0);
    trace.on("/device:GPU:" + std::to_string(device));
    trace.copy("H2D", begin, copy_us, 1 << 20, static_cast<std::uint64_t>(1001 + 2 * step + device));
  }
  trace.on("/device:GPU:0");
}

/// The kernels of one step on one of two devices, and the all-reduce that both end with.
inline void WrittenGpuJob::add_replica(const std::string& device, double each_us, double start, GpuTrace& trace) const {
  trace.on(device);
  for (int index = 0; index < kernels; ++index) trace.kernel(start + index * (each_us + gap_us), each_us, kernel);
  const double own = kernels * (each_us + gap_us);
  GpuTrace::Kernel all_reduce;
  all_reduce.name = "ncclAllReduceRingLLKernel_sum_f32(ncclColl)";
  trace.kernel(start + own, computing_us() - own, all_reduce);
}

inline GpuTrace WrittenGpuJob::to_trace() const {
  SyntheticTrace host;
  for (int step = 0; step < steps; ++step) {
    const double start = 100 + step * step_us();
    host.add("python", "IteratorGetNextOp::DoCompute", start, get_next_us);
    host.iterator("python", "Iterator::Root", 1, 0, start + 1, get_next_us - 2);
    host.iterator("python", "Iterator::Root::Prefetch", 2, 1, start + 2, get_next_us - 4);
    host.iterator("producer", "Iterator::Root::Prefetch::BatchV2", 3, 2, start + 3, get_next_us - 6);
    add_copies(step, start + get_next_us, host);
    host.add("tf_Compute/1", "ExecutorState::Process", start + get_next_us, step_us() - get_next_us - python_us - 1)
        .ids["id"] = 7;
  }
  GpuTrace trace(host.to_message());
  if (!is_device_recorded) return trace.without_events();
  for (int step = 0; step < steps; ++step) {
    const double start = 100 + step * step_us();
    const double compute = start + step_us() - python_us - computing_us();
    add_copies(step, copies_ahead ? compute : start + get_next_us, trace);
    if (other_kernel_us > 0) {
      add_replica("/device:GPU:1", other_kernel_us, compute, trace);
      add_replica("/device:GPU:0", kernel_us, compute, trace);
    }
    for (int index = 0; index < kernels && other_kernel_us == 0; ++index) {
      trace.kernel(compute + index * (kernel_us + gap_us), kernel_us, kernel);
    }
    if (is_asynchronous) trace.kernel(start, compute - start, kernel);
    trace.step(step, start, step_us());
  }
  return trace;
}

struct WrittenGpuCase {
  std::string file;  ///< below testdata/rules
  WrittenGpuJob job;
};

inline std::vector<WrittenGpuCase> written_gpu_cases() {
  WrittenGpuJob copies;
  copies.copy_us = 900;
  WrittenGpuJob copies_ahead = copies;
  copies_ahead.copies_ahead = true;
  WrittenGpuJob launches;
  launches.kernels = 50;
  launches.kernel_us = 20;
  launches.gap_us = 15;
  WrittenGpuJob launches_ahead = launches;
  launches_ahead.gap_us = 0.5;
  WrittenGpuJob in_32_bits;
  in_32_bits.kernel.op = "model/dense/MatMul:MatMul";
  WrittenGpuJob in_16_bits = in_32_bits;
  in_16_bits.kernel.name = "turing_fp16_sgemm_fp16_128x64_nn";
  WrittenGpuJob on_tensor_cores = in_32_bits;
  on_tensor_cores.kernel.name = "volta_fp16_s884gemm_fp16_128x64_ldg8_f2f_nn";
  WrittenGpuJob waits;
  waits.get_next_us = 1500;
  WrittenGpuJob uneven;
  uneven.other_kernel_us = 100;
  WrittenGpuJob even;
  even.other_kernel_us = 185;
  WrittenGpuJob works_meanwhile = waits;
  works_meanwhile.is_asynchronous = true;
  WrittenGpuJob in_python;
  in_python.python_us = 900;
  WrittenGpuJob little_python;
  little_python.python_us = 300;
  WrittenGpuJob unrecorded;
  unrecorded.is_device_recorded = false;
  unrecorded.steps = 30;
  WrittenGpuJob recorded = unrecorded;
  recorded.is_device_recorded = true;
  WrittenGpuJob in_turn;
  in_turn.feed = WrittenGpuJob::Feed::two_in_turn;
  in_turn.copy_us = 150;
  WrittenGpuJob at_once = in_turn;
  at_once.feed = WrittenGpuJob::Feed::two_at_once;
  return {{"devices-fed-in-turn/flags/written.xplane.pb", in_turn},
          {"devices-fed-in-turn/clean/written.xplane.pb", at_once},
          {"devices-not-recorded/flags/written.xplane.pb", unrecorded},
          {"devices-not-recorded/clean/written.xplane.pb", recorded},
          {"time-outside-ops/flags/written.xplane.pb", in_python},
          {"time-outside-ops/clean/written.xplane.pb", little_python},
          {"device-idle-for-input/flags/written.xplane.pb", waits},
          {"device-idle-for-input/clean/written.xplane.pb", works_meanwhile},
          {"full-precision/flags/written.xplane.pb", in_32_bits},
          {"full-precision/clean/written.xplane.pb", in_16_bits},
          {"host-to-device-copy/flags/written.xplane.pb", copies},
          {"host-to-device-copy/clean/written.xplane.pb", copies_ahead},
          {"kernel-launch-bound/flags/written.xplane.pb", launches},
          {"kernel-launch-bound/clean/written.xplane.pb", launches_ahead},
          {"tensor-cores-unused/flags/written.xplane.pb", in_16_bits},
          {"tensor-cores-unused/clean/written.xplane.pb", on_tensor_cores},
          {"uneven-devices/flags/written.xplane.pb", uneven},
          {"uneven-devices/clean/written.xplane.pb", even}};
}
