#include "model/simulation.h"

// Pipelines that are made anew while a replay goes on: by the consumer, or by a repeat().

namespace doctor {

void Simulation::find_iterations() {
  if (!programs_.consumers.empty()) {
    const std::vector<IteratorId>& begins = programs_.consumers.front().begins_iteration;
    iterating_ = std::set<IteratorId>(begins.begin(), begins.end());
    iterating_.erase(kNoIterator);
  }
  std::set<IteratorId> repeated;
  for (const auto& [stage, producer] : programs_.producers) {
    if (!producer.doubles_limit()) continue;
    iterating_.insert(producer.pipeline);
    // No other prefetch that grows makes the elements that the consumer takes of a pipeline's root.
    if (stage != static_cast<StageIndex>(producer.pipeline)) continue;
    buffers_[buffer_of_.at(stage)].repeats = true;
    repeated.insert(producer.pipeline);
  }
  for (ReplayBuffer& buffer : buffers_) {
    buffer.has_iterations = !buffer.repeats && iterating_.contains(buffer.producer->pipeline);
    if (buffer.has_iterations) buffer.begin_iteration();
  }
  for (const IteratorId pipeline : repeated) iterating_.erase(pipeline);
}

/// The pipeline's iterator is made anew: what is in its buffers is gone.
void Simulation::begin_iteration(IteratorId pipeline, bool is_first) {
  for (ReplayBuffer& buffer : buffers_) {
    if (buffer.producer->pipeline != pipeline || buffer.repeats) continue;
    buffer.iteration = is_first ? 0 : buffer.iteration + 1;
    buffer.begin_iteration();
    wake(buffer.makers);
  }
}

/// Makes the pipeline anew where the element that the prefetch above a repeat() makes next is the first of an
/// iteration.
void Simulation::repeat(const ReplayBuffer& buffer) {
  if (buffer.begins_iteration()) begin_iteration(buffer.producer->pipeline, /*is_first=*/buffer.next_program == 1);
}

}  // namespace doctor
