#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "measure/measurements.h"
#include "model/pipeline_model.h"

namespace doctor {

/// A pipeline with times that are known: Root > Prefetch > Map > Range, and a consumer that computes between its calls.
class TimedPipeline {
 public:
  TimedPipeline(double map_ms, double consumer_ms) {
    add_iterator("Root", kNoIterator, false);
    add_iterator("Prefetch", IteratorId{0}, true);
    add_iterator("Map", IteratorId{1}, false);
    host_.iterators[0].attributes = {{"cpu_budget", 4, ""}, {"threadpool_size", 4, ""}};
    CycleSample& sample = host_.cycles;
    sample.cores = 4;
    sample.pool_threads = 4;
    sample.window = 1e6;
    constexpr int kSteps = 20;
    ConsumerCycles consumer;
    consumer.root = IteratorId{0};
    for (int step = 0; step < kSteps; ++step) {
      const Cycle made = add_items({{CycleItem::Kind::enter, 2, 0, 0, 0, 1},
                                    {CycleItem::Kind::work, 2, static_cast<float>(1000 * map_ms), 0, 0, 1},
                                    {CycleItem::Kind::leave, 2, 0, 0, 0, 1}});
      sample.stages[1].cycles.push_back(made);
      ConsumerStep taken;
      taken.cycle = add_items({{CycleItem::Kind::pull, 1, 0, 0, 0, 1}});
      taken.gap = 1000 * consumer_ms;
      taken.root = IteratorId{0};
      consumer.steps.push_back(taken);
    }
    consumer.rate = 1000 / std::max(map_ms, consumer_ms);
    sample.consumers.push_back(std::move(consumer));
  }

  HostMeasurement& host() { return host_; }
  /// Refers to this pipeline.
  PipelineModel model() const { return model_of(host_); }

 private:
  void add_iterator(const std::string& name, IteratorId parent, bool is_async) {
    IteratorMeasurement iterator;
    iterator.short_name = name;
    const std::string above = parent == kNoIterator ? "Iterator" : host_.iterators[parent].long_name;
    iterator.long_name = above + "::" + name;
    iterator.parent = parent;
    iterator.calls = 20;
    const auto id = static_cast<IteratorId>(host_.iterators.size());
    if (parent != kNoIterator) host_.iterators[parent].children.push_back(id);
    host_.iterators.push_back(iterator);
    Stage stage;
    stage.parent = parent == kNoIterator ? kNoStage : static_cast<StageIndex>(index_of(parent));
    stage.is_async = is_async;
    host_.cycles.stages.push_back(stage);
  }

  Cycle add_items(const std::vector<CycleItem>& items) {
    std::vector<CycleItem>& all = host_.cycles.items;
    const auto first = static_cast<std::uint32_t>(all.size());
    all.insert(all.end(), items.begin(), items.end());
    return {0, first, static_cast<std::uint32_t>(all.size())};
  }

  HostMeasurement host_;
};

}  // namespace doctor
