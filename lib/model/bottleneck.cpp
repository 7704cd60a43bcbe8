#include <algorithm>

#include "model/simulation.h"

// What a replay that has run says: its rate, and where the waits end.

namespace doctor {

/// Where the steps begin of which the rate is: whole times through the sample, and not the first one, in which buffers
/// fill; if there is but one, without its first third.
std::size_t Simulation::first_step() const {
  const std::size_t steps = programs_.consumers.front().steps.size();
  const std::size_t passed = marks_.size() - 1;
  const std::size_t times = passed / steps;
  return times >= 2 ? passed - (times - 1) * steps : std::max<std::size_t>(1, marks_.size() / 3);
}

double Simulation::rate() const {
  if (marks_.size() < 3 || programs_.consumers.empty()) return 0;
  const double time = marks_.back() - marks_[first_step()];
  return time > 0 ? 1e6 * static_cast<double>(marks_.size() - 1 - first_step()) / time : 0;
}

void Simulation::add_waiting(ReplayThread& thread, double& sum) const {
  sum += clock_.now() - thread.waits_since;
  thread.waits_since = kNotWaiting;
}

/// There are few, and they are asked for again and again.
double& Simulation::starved(BufferIndex who, BufferIndex buffer) {
  const std::pair<BufferIndex, BufferIndex> key{who, buffer};
  auto place = std::lower_bound(starved_.begin(), starved_.end(), key,
                                [](const auto& known, const auto& wanted) { return known.first < wanted; });
  if (place == starved_.end() || place->first != key) place = starved_.insert(place, {key, 0});
  return place->second;
}

/// What limits the makers of a buffer that somebody waits for, and that wait for nobody themselves.
Bottleneck Simulation::bottleneck_of(StageIndex stage, const ReplayBuffer& buffer) const {
  constexpr double kInUse = 0.9;  // of the time; the rest is handing over
  const Producer& producer = *buffer.producer;
  const bool cores_are_used = clock_.core_time() > kInUse * static_cast<double>(programs_.cores) * clock_.now();
  const bool is_dispatcher = producer.kind == Producer::Kind::dispatcher;
  // A dispatcher that seldom waits for room is busy with its input.
  const bool input_is_slow = is_dispatcher && 2 * buffer.full_time < clock_.now();
  if (cores_are_used)
    return {Resource::cores, is_dispatcher && !input_is_slow ? stage : producer.busiest, programs_.cores};
  const bool pool_is_used = clock_.pool_time() > kInUse * static_cast<double>(programs_.pool_threads) * clock_.now();
  if (!is_dispatcher && pool_is_used && producer.threads > programs_.pool_threads)
    return {Resource::pool, producer.busiest, programs_.pool_threads};
  if (!is_dispatcher || input_is_slow)
    return {Resource::thread, producer.busiest, is_dispatcher ? 1 : producer.threads};
  if (programs_.jobs_hold_python) return {Resource::python, stage};
  if (pool_is_used) return {Resource::pool, stage, programs_.pool_threads};
  return {Resource::calls, stage, producer.parallelism};
}

/// The buffer that the makers of another one, or the first consumer, wait for longest, and how long; kOfConsumer if
/// they wait for none.
std::pair<BufferIndex, double> Simulation::longest_starved(BufferIndex who) const {
  std::pair<BufferIndex, double> most{kOfConsumer, 0};
  for (const auto& [of, time] : starved_) {
    if (of.first == who && time > most.second) most = {of.second, time};
  }
  return most;
}

/// For how long the first consumer works in GetNext on its own thread.
double Simulation::own_time_in_get_next(double waited) const {
  const Programs::Consumer& consumer = programs_.consumers.front();
  const double work = consumer.get_next_work + consumer.gaps;
  return work > 0 ? consumer.get_next_work / work * (clock_.now() - waited) : 0;
}

/// Goes from the consumer to where nobody waits any more.
Bottleneck Simulation::find_bottleneck() const {
  constexpr double kHardlyWaits = 0.05;    // of the time: a healthy job, see min_mild_share
  constexpr double kSometimesWaits = 0.1;  // of the time of a buffer: whoever waits less is not held up by it
  if (clock_.now() <= 0) return {};
  const auto [first, waited] = longest_starved(kOfConsumer);
  auto buffer = first;  // a name that a lambda may capture: clang 14 refuses structured bindings
  const double own = own_time_in_get_next(waited);
  if (waited + own < kHardlyWaits * clock_.now()) return {};
  if (waited <= own) {
    const double gaps = clock_.now() - waited - own;
    return own >= gaps ? Bottleneck{Resource::thread, programs_.consumers.front().busiest} : Bottleneck{};
  }
  std::vector<bool> is_known(buffers_.size());
  while (!is_known[buffer]) {
    is_known[buffer] = true;
    const auto [next, starved] = longest_starved(buffer);
    const Producer& producer = *buffers_[buffer].producer;
    const auto threads = static_cast<double>(producer.kind == Producer::Kind::feeder ? producer.threads : 1);
    // What limits the others never waits for its own input.
    if (next == kOfConsumer || starved < kSometimesWaits * threads * clock_.now() ||
        starved < buffers_[buffer].full_time)
      break;
    buffer = next;
  }
  const auto stage =
      std::find_if(buffer_of_.begin(), buffer_of_.end(), [&](const auto& of) { return of.second == buffer; });
  return bottleneck_of(stage->first, buffers_[buffer]);
}

}  // namespace doctor
