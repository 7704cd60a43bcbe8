#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "measure/measure.h"
#include "measure/measurements.h"
#include "tree/dataset_kinds.h"

namespace doctor {

/// Measurements of one pipeline for tests of rules, written by hand: a chain of iterators from the root to the source,
/// ten calls of the consumer of 10 ms each, one iterator that they wait for, and the root for what is left of the
/// waits.
class MeasuredPipeline {
 public:
  explicit MeasuredPipeline(const std::vector<std::string>& chain) {
    std::string long_name = "Iterator";
    for (const std::string& short_name : chain) {
      long_name += "::" + short_name;
      IteratorMeasurement iterator;
      iterator.long_name = long_name;
      iterator.short_name = short_name_of(short_name);
      iterator.root = IteratorId{0};
      iterator.depth = static_cast<std::uint32_t>(host_.iterators.size());
      iterator.is_async = dataset_kind(iterator.short_name).has(Trait::async);
      iterator.is_source = dataset_kind(iterator.short_name).is_source();
      iterator.calls = 100;
      iterator.instances = 1;
      const auto id = static_cast<IteratorId>(host_.iterators.size());
      if (!host_.iterators.empty()) {
        iterator.parent = static_cast<IteratorId>(host_.iterators.size() - 1);
        host_.iterators.back().children.push_back(id);
      }
      host_.iterators.push_back(std::move(iterator));
    }
    host_.files = {{"host.xplane.pb", "xspace", 1000}};
    host_.event_count = host_.iterator_event_count = 1000;
    host_.window = kPicosecondsPerSecond;
    describe_pipeline();
  }

  /// Sets how much of the time the consumer waits, and how much of the waits is the first iterator of that name.
  MeasuredPipeline& waits_for(std::string_view short_name, double culprit_share = 0.9, double input_share = 0.8) {
    pipeline().has_cadence = true;
    pipeline().cadence.share = pipeline().trimmed_cadence.share = input_share;
    PhaseMeasurement& steady = pipeline().steady;
    steady.culprit = id_of(short_name);
    steady.culprits_of_halves = {steady.culprit, steady.culprit};
    steady.critical = {};
    const Picoseconds held = std::llround(culprit_share * static_cast<double>(steady.waited));
    steady.critical[IteratorId{0}] = steady.waited - held;
    steady.critical[steady.culprit] = held;
    return *this;
  }

  MeasuredPipeline& uses_cores(double busy_threads, std::int64_t budget) {
    pipeline().cpu_budget = budget;
    pipeline().steady.busy_threads = busy_threads;
    return *this;
  }

  MeasuredPipeline& sets(std::string_view short_name, const std::string& attribute, std::int64_t number) {
    (*this)[short_name].attributes.push_back({attribute, number, {}});
    return *this;
  }
  MeasuredPipeline& sets(std::string_view short_name, const std::string& attribute, const std::string& text) {
    (*this)[short_name].attributes.push_back({attribute, std::nullopt, text});
    return *this;
  }

  /// Sets how long the prefetch at the end takes for an element, as a part of the time between two calls.
  MeasuredPipeline& makes_elements_in(double share) {
    IteratorMeasurement& input = host_.iterators[host_.iterators[pipeline().prefetch].children[0]];
    input.total = std::llround(share * static_cast<double>(2 * kLatency)) * static_cast<Picoseconds>(input.calls);
    return *this;
  }

  /// Ops in the culprit's function; those of Python are told apart by their name.
  MeasuredPipeline& runs(const std::vector<FunctionOp>& ops) {
    pipeline().steady.function_ops = ops;
    for (const FunctionOp& op : ops) {
      if (op.op == "EagerPyFunc") pipeline().steady.python += op.self;
    }
    return *this;
  }

  IteratorId id_of(std::string_view short_name) const {
    const auto found =
        std::find_if(host_.iterators.begin(), host_.iterators.end(),
                     [&](const IteratorMeasurement& iterator) { return iterator.short_name == short_name; });
    return static_cast<IteratorId>(found - host_.iterators.begin());
  }
  IteratorMeasurement& operator[](std::string_view short_name) { return host_.iterators[id_of(short_name)]; }
  PipelineMeasurement& pipeline() { return host_.pipelines.front(); }
  HostMeasurement& host() { return host_; }

  Measurements measurements() const {
    Measurements measurements;
    measurements.hosts.push_back(host_);
    find_user_calls({}, measurements.hosts.back());
    return measurements;
  }

 private:
  static constexpr std::size_t kCalls = 10;
  static constexpr Picoseconds kLatency = 10 * kPicosecondsPerMillisecond;

  void describe_pipeline() {
    PipelineMeasurement pipeline;
    pipeline.root = IteratorId{0};
    for (std::size_t call = 0; call < kCalls; ++call) {
      const Picoseconds start = static_cast<Picoseconds>(call) * 2 * kLatency;
      pipeline.calls.push_back({start, start + kLatency});
    }
    pipeline.total = static_cast<Picoseconds>(kCalls) * kLatency;
    pipeline.median = pipeline.p95 = pipeline.max = pipeline.trimmed_mean = kLatency;
    pipeline.slow_count = kCalls;
    pipeline.cadence.beats = pipeline.trimmed_cadence.beats = kCalls;
    pipeline.steady.call_count = kCalls;
    pipeline.steady.waited = pipeline.total;
    for (PhaseMeasurement* phase : {&pipeline.steady, &pipeline.warmup}) {
      for (std::size_t index = 0; index < host_.iterators.size(); ++index)
        phase->critical[static_cast<IteratorId>(index)] = 0;
    }
    std::size_t outermost = 0;
    while (dataset_kind(host_.iterators[outermost].short_name).has(Trait::frame) &&
           outermost + 1 < host_.iterators.size())
      ++outermost;
    pipeline.outermost = static_cast<IteratorId>(outermost);
    if (host_.iterators[outermost].short_name == "Prefetch") pipeline.prefetch = pipeline.outermost;
    for (std::size_t id = 0; id < host_.iterators.size(); ++id) pipeline.members.push_back(static_cast<IteratorId>(id));
    host_.pipelines.push_back(std::move(pipeline));
  }

  HostMeasurement host_;
};

}  // namespace doctor
