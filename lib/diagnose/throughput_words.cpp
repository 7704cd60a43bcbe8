#include "diagnose/throughput_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "diagnose/user_code.h"
#include "text/numbers.h"

namespace doctor {
namespace {

struct ConditionWords {
  Condition condition;
  std::string_view word;   ///< of the schema
  std::string_view words;  ///< for people
};

constexpr std::array<ConditionWords, 5> kConditions = {
    {{Condition::python_releases_lock, "python_releases_lock", "if the function lets go of Python's lock"},
     {Condition::fits_in_memory, "fits_in_memory", "from the second epoch on, if what it keeps fits in memory"},
     {Condition::runs_on_batches, "runs_on_batches", "if the function can work on batches"},
     {Condition::does_not_need_map, "does_not_need_map", "if the filter does not need what the map makes"},
     {Condition::comes_from_files, "comes_from_files", "if what the generator makes can be read from files"}}};

}  // namespace

std::string format_steps_per_s(double rate) {
  constexpr double kOneDecimal = 10;
  if (rate < 1) return fmt::format("{:.2f}", rate);
  if (rate < kOneDecimal) return fmt::format("{:.1f}", rate);
  return format_count(static_cast<std::uint64_t>(std::llround(rate)));
}

std::string format_factor(double factor) {
  constexpr double kTwoDecimals = 1.25;
  constexpr double kOneDecimal = 10;
  if (factor < kTwoDecimals) return fmt::format("{:.2f}", factor);
  return factor < kOneDecimal ? fmt::format("{:.1f}", factor) : fmt::format("{:.0f}", factor);
}

std::string describe_bottleneck(const HostMeasurement& host, const Bottleneck& bottleneck) {
  // A prefetch that the trace does not have has no name.
  const bool is_named = bottleneck.stage < host.iterators.size();
  const std::string stage = is_named ? describe(host, static_cast<IteratorId>(bottleneck.stage)) : "the input";
  const auto count = static_cast<std::uint64_t>(bottleneck.count);
  switch (bottleneck.resource) {
    case Resource::thread:
      return bottleneck.count == 1 ? "the one thread of " + stage
                                   : fmt::format("the {} threads of {}", bottleneck.count, stage);
    case Resource::calls:
      return fmt::format("the {} of {}", format_count(static_cast<std::uint64_t>(bottleneck.count), "parallel call"),
                         stage);
    case Resource::pool:
      return host.cycles.knows_cores ? "the pool of " + format_count(count, "thread") : "the pool of threads";
    case Resource::cores:
      return fmt::format("the {}, mostly used by {}", host.cycles.knows_cores ? format_count(count, "core") : "cores",
                         stage);
    case Resource::python:
      return "Python's lock in " + stage;
    default:
      return "the training itself, between two batches";
  }
}

std::string_view to_word(Resource resource) {
  switch (resource) {
    case Resource::thread:
      return "thread";
    case Resource::calls:
      return "calls";
    case Resource::pool:
      return "pool";
    case Resource::cores:
      return "cores";
    case Resource::python:
      return "python";
    default:
      return "consumer";
  }
}

std::string_view to_word(Condition condition) {
  const auto* const found = std::find_if(kConditions.begin(), kConditions.end(),
                                         [&](const ConditionWords& words) { return words.condition == condition; });
  return found == kConditions.end() ? std::string_view() : found->word;
}

std::string_view describe_condition(std::string_view word) {
  const auto* const found = std::find_if(kConditions.begin(), kConditions.end(),
                                         [&](const ConditionWords& words) { return words.word == word; });
  return found == kConditions.end() ? std::string_view() : found->words;
}

std::string describe_gain_alone(const Gain& gain) {
  const std::string_view words = describe_condition(to_word(gain.then.condition));
  std::string condition = words.empty() ? std::string() : fmt::format(", {}", words);
  if (const std::optional<CacheOutlook>& cache = gain.then.cache) {
    if (cache->megabytes) condition += fmt::format(" (about {:.3g} MB)", *cache->megabytes);
    if (!cache->saw_epoch_end) condition += "; no epoch ended in the trace, and before that a cache gains nothing";
  }
  return fmt::format("x{} ({} to {}): {} -> {} steps/s{}", format_factor(gain.factor()), format_factor(gain.low()),
                     format_factor(gain.high()), format_steps_per_s(gain.now), format_steps_per_s(gain.then.estimate),
                     condition);
}

std::string describe_gain(const Gain& gain) {
  return fmt::format("{}; after that the limit is {}", describe_gain_alone(gain), gain.then_limited_by);
}

}  // namespace doctor
