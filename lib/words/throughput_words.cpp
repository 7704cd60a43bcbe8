#include "words/throughput_words.h"

#include <fmt/format.h>

#include <cmath>

#include "diagnose/user_code.h"
#include "text/json_page.h"
#include "text/numbers.h"

namespace doctor {
namespace {

constexpr std::array<NamedValue<Condition>, 5> kConditions = {
    {{Condition::python_releases_lock, "python_releases_lock", "if the function lets go of Python's lock"},
     {Condition::fits_in_memory, "fits_in_memory", "from the 2nd epoch on, if it fits in memory"},
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
  if (factor < kTwoDecimals) return fmt::format("{:.2f}x", factor);
  return factor < kOneDecimal ? fmt::format("{:.1f}x", factor) : fmt::format("{:.0f}x", factor);
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
  using enum Resource;
  return word_of(resource, {{thread, "thread"},
                            {calls, "calls"},
                            {pool, "pool"},
                            {cores, "cores"},
                            {python, "python"},
                            {consumer, "consumer"}});
}

std::string_view to_word(Condition condition) {
  const auto* const found = std::ranges::find(kConditions, condition, &NamedValue<Condition>::value);
  return found == kConditions.end() ? std::string_view() : found->word;
}

std::string_view describe_condition(std::string_view word) {
  const auto* const found = std::ranges::find(kConditions, word, &NamedValue<Condition>::word);
  return found == kConditions.end() ? std::string_view() : found->words;
}

std::string describe_gain(const Gain& gain) {
  const GainWords words = words_of(gain, gain.now);
  return words.before + words.after + words.rest;
}

GainWords words_of(const Gain& gain, double rate_before) {
  GainWords words;
  words.before = fmt::format("{} -> ", format_steps_per_s(rate_before));
  words.after = fmt::format("{} steps/s", format_steps_per_s(gain.then.estimate));
  const double factor = rate_before > 0 ? gain.then.estimate / rate_before : gain.factor();
  words.rest = fmt::format(", {}", format_factor(factor));
  if (rate_before == gain.now) {
    words.rest += fmt::format(" ({} to {})", format_factor(gain.low()), format_factor(gain.high()));
  }
  if (const std::string_view condition = describe_condition(to_word(gain.then.condition)); !condition.empty()) {
    words.rest += fmt::format(", {}", condition);
  }
  if (const std::optional<CacheOutlook>& cache = gain.then.cache; cache && cache->megabytes) {
    words.rest += fmt::format(" (about {})", format_bytes(static_cast<std::uint64_t>(*cache->megabytes * 1e6)));
  }
  return words;
}

std::string_view describe(NoGainBecause because) {
  switch (because) {
    case NoGainBecause::too_many_events:
      return "the trace has too many events for a model of the pipeline; record fewer steps: --batches 11-14";
    case NoGainBecause::too_few_calls:
      return "the trace shows fewer than two batches of a pipeline";
    case NoGainBecause::too_few_elements:
      return "the trace shows too few elements being made";
    case NoGainBecause::no_threads:
      return "TF1 timelines do not show threads";
    case NoGainBecause::no_consumer:
      return "nothing in the trace takes elements from a pipeline";
    case NoGainBecause::no_iterators:
      return "the trace shows no tf.data iterators, which the model is made of";
    case NoGainBecause::rate_not_reproduced:
      return "no model of this pipeline reproduces the rate that was measured";
    case NoGainBecause::unknown_change:
      return "the model does not know this change";
    case NoGainBecause::too_many_changes:
      return "there are too many changes to predict them all";
    case NoGainBecause::nobody_waits:
      break;
  }
  return {};
}

}  // namespace doctor
