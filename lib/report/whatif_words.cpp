#include <cmath>

#include "diagnose/cores.h"
#include "diagnose/user_code.h"
#include "report/json_values.h"
#include "report/whatif_page.h"

namespace doctor {
namespace {

/// Three digits: a prediction has no more.
std::string rate_words(double rate) {
  return rate >= 100 ? format_count(static_cast<std::uint64_t>(std::llround(rate))) : fmt::format("{:.3g}", rate);
}

std::string factor_words(double factor) {
  return factor >= 10 ? rate_words(factor) : fmt::format("{:.2f}", factor);
}

/// "AUTOTUNE", "8".
std::string calls_words(const Fix& fix) {
  return fix.parallelism ? fmt::format("{}", *fix.parallelism) : "AUTOTUNE";
}

/// The line of Python that a fix is, as short as it can be.
std::string code_of(const Fix& fix) {
  switch (fix.kind) {
    case FixKind::parallel_map:
      return fmt::format(".map(f, num_parallel_calls={})", calls_words(fix));
    case FixKind::parallel_interleave: {
      const std::string cycle = fix.cycle_length ? fmt::format("cycle_length={}, ", *fix.cycle_length) : "";
      return fmt::format(".interleave(f, {}num_parallel_calls={})", cycle, calls_words(fix));
    }
    case FixKind::parallel_batch:
      return fmt::format(".batch(n, num_parallel_calls={})", calls_words(fix));
    case FixKind::prefetch:
    case FixKind::prefetch_below:
    case FixKind::buffer:
      return fmt::format(".prefetch({})", calls_words(fix));
    case FixKind::iterate_once:
      return "iter(dataset) before the loop";
    case FixKind::cache:
      return ".cache()";
    case FixKind::filter_first:
      return ".filter(f)";
    case FixKind::map_after:
      return ".map(f) after the filter";
    case FixKind::skip_first:
      return ".skip(n)";
    case FixKind::parallel_filter:
      return fmt::format(".map(predicate, num_parallel_calls={})", calls_words(fix));
    case FixKind::split_cache:
      return ".cache() of the first part";
    case FixKind::files:
      return "files, read in parallel";
    case FixKind::vectorize:
      return ".batch(n)";
    case FixKind::threadpool:
      return fmt::format("private_threadpool_size={}", fix.parallelism ? calls_words(fix) : "2 * cores");
    case FixKind::unordered:
      return "deterministic=False";
    case FixKind::free:
      return "at most: no work";
    case FixKind::none:
      break;
  }
  return "no change";
}

const Fix* find_fix(std::span<const Fix> fixes, FixKind kind, IteratorId iterator) {
  const auto found =
      std::ranges::find_if(fixes, [&](const Fix& fix) { return fix.kind == kind && fix.iterator == iterator; });
  return found == fixes.end() ? nullptr : &*found;
}

/// Whether several threads run the iterator, with all that is below an interleave.
bool is_interleaved(const WhatIfHost& host, IteratorId iterator, std::span<const Fix> fixes) {
  const HostMeasurement& measured = host.measured();
  const auto interleaves = [&](IteratorId id) {
    return measured.iterators[id].is_parallel_interleave() ||
           find_fix(fixes, FixKind::parallel_interleave, id) != nullptr;
  };
  if (interleaves(iterator)) return true;
  for (const IteratorId above : measured.iterators_above(iterator)) {
    if (interleaves(above)) return true;
    if (measured.iterators[above].is_async) break;
  }
  return false;
}

std::string parallel_calls_words(const WhatIfHost& host, IteratorId iterator, std::span<const Fix> fixes) {
  std::optional<std::int64_t> calls;
  if (iterator != kNoIterator) {
    const Fix* const fix = find_fix(fixes, FixKind::parallel_map, iterator);
    calls = fix != nullptr ? fix->parallelism : host.measured().iterators[iterator].number("parallelism");
  }
  return calls && *calls > 0 ? "its " + format_count(static_cast<std::uint64_t>(*calls), "parallel call")
                             : "its number of parallel calls";
}

std::string resource_words(const WhatIfHost& host, const Bottleneck& bottleneck, std::span<const Fix> fixes) {
  const CycleSample& sample = host.measured().cycles;
  const IteratorId iterator = iterator_at(host, bottleneck);
  switch (bottleneck.resource) {
    case Resource::consumer:
      return "your model";
    case Resource::thread:
      return iterator != kNoIterator && is_interleaved(host, iterator, fixes) ? "the threads of the interleave"
                                                                              : "one thread";
    case Resource::calls:
      return parallel_calls_words(host, iterator, fixes);
    case Resource::pool: {
      const Fix* const pool = find_fix(fixes, FixKind::threadpool, kNoIterator);
      if (!host.knows_cores() && (pool == nullptr || !pool->parallelism)) return "the pool of threads";
      const std::int64_t threads =
          pool != nullptr ? pool->parallelism.value_or(2 * sample.cores) : threads_of_pool(sample, host.view.request);
      return "the pool of " + format_count(static_cast<std::uint64_t>(threads), "thread");
    }
    case Resource::cores: {
      const std::int64_t cores = host.view.request.cores.value_or(sample.cores);
      if (!host.knows_cores()) return "the cores";
      return cores == 1 ? "the one core" : cores == 2 ? "both cores" : fmt::format("all {} cores", cores);
    }
    case Resource::python:
      break;
  }
  return "Python's lock";
}

/// "4 cores and a model 2 times as fast"; empty where nothing is changed.
std::string machine_words(const WhatIfRequest& request) {
  std::string words;
  if (request.cores) words = format_count(static_cast<std::uint64_t>(*request.cores), "core");
  if (request.consumer_factor == 1) return words;
  return words + fmt::format("{}a model {:.3g} times as fast", words.empty() ? "" : " and ", request.consumer_factor);
}

/// "41 steps/s (ideal.xplane.pb)".
std::string ideal_words(const IdealRun& ideal, const IdealGap& gap) {
  std::string from = ideal.source;
  if (ideal.recordings > 1) from += fmt::format(", median of {}", format_count(ideal.recordings, "recording"));
  if (gap.is_traced) from += ", with the cost of tracing";
  return fmt::format("{} steps/s ({})", rate_words(gap.to), from);
}

}  // namespace

std::string rate_range(const Prediction& prediction) {
  return fmt::format("{} ({} to {})", rate_words(prediction.estimate), rate_words(prediction.low),
                     rate_words(prediction.high));
}

std::string gain_range(const WhatIfHost& host, const Prediction& prediction) {
  return fmt::format("{}x ({}x to {}x)", factor_words(host.gain_of(prediction.estimate)),
                     factor_words(host.gain_of(prediction.low)), factor_words(host.gain_of(prediction.high)));
}

std::string words_of(const WhatIfHost& host, const Fix& fix) {
  std::string words = code_of(fix);
  if (fix.kind == FixKind::prefetch) words += " at the end";
  if (fix.kind == FixKind::iterate_once && !iterates_for_each_step(host.measured().cycles.consumers.front())) {
    return "iter(dataset.repeat()) once, for all epochs";
  }
  if (fix.iterator == kNoIterator) return words;
  const std::string name = describe(host.measured(), fix.iterator);
  const bool is_flat_map = host.measured().iterators[fix.iterator].is_sequential(Trait::flat_map);
  if (fix.kind == FixKind::parallel_interleave && is_flat_map) return words + " instead of " + name;
  switch (fix.kind) {
    case FixKind::cache:
      return words + " after " + name;
    case FixKind::prefetch_below:
    case FixKind::vectorize:
    case FixKind::parallel_filter:
      return words + " before " + name;
    case FixKind::filter_first:
      return words + " before the map below it";
    case FixKind::map_after:
      return words + " above it instead of " + name;
    case FixKind::skip_first:
      return words + " before the maps below it";
    case FixKind::split_cache:
      return words + " of " + name + ", up to its random ops";
    case FixKind::free:
      return words + " in " + name;
    case FixKind::files:
      return words + ", instead of " + name;
    case FixKind::buffer:
    case FixKind::unordered:
      return words + " of " + name;
    default:
      return is_one_of_several(host.measured().iterators[fix.iterator]) ? words + " for " + name : words;
  }
}

std::string limit_words(const WhatIfHost& host, const Bottleneck& bottleneck, std::span<const Fix> fixes) {
  const IteratorId iterator = iterator_at(host, bottleneck);
  const std::string resource = resource_words(host, bottleneck, fixes);
  return iterator == kNoIterator ? resource : describe(host.measured(), iterator) + ": " + resource;
}

namespace {

std::string cache_words(const Prediction& prediction) {
  const CacheOutlook cache = prediction.cache.value_or(CacheOutlook{true, {}});
  const std::string size =
      cache.megabytes ? fmt::format(" (about {} MB)", std::llround(std::max(1.0, *cache.megabytes))) : "";
  if (cache.saw_epoch_end) return "what is cached fits in memory" + size + "; from the second epoch on";
  return "what is cached fits in memory" + size +
         ", and epochs end: the window shows no end of one, and without it a cache is never complete";
}

}  // namespace

std::string condition_words(const Prediction& prediction) {
  switch (prediction.condition) {
    case Condition::none:
      return {};
    case Condition::python_releases_lock:
      return "the function lets go of Python's lock, as NumPy and reading files do; else the lower end holds";
    case Condition::fits_in_memory:
      return cache_words(prediction);
    case Condition::runs_on_batches:
      return "the function can work on whole batches";
    case Condition::comes_from_files:
      return "what the generator makes can be read from files";
    case Condition::does_not_need_map:
      break;
  }
  return "the filter can decide before the map has run";
}

std::string base_line(const WhatIfHost& host) {
  const HostPredictions& predicted = host.predicted;
  const std::string limit = limit_words(host, predicted.limited_by, {});
  if (const std::string machine = machine_words(host.view.request); !machine.empty()) {
    return fmt::format("{} steps/s now, which means with {} ({} as traced), limited by {}", rate_words(predicted.now),
                       machine, rate_words(predicted.measured), limit);
  }
  if (!predicted.tells_gains && predicted.now == predicted.measured) {
    return fmt::format("{} steps/s as recorded", rate_words(predicted.measured));
  }
  if (!predicted.tells_gains) {
    return fmt::format("{} steps/s as recorded, {} before that", rate_words(predicted.measured),
                       rate_words(predicted.now));
  }
  return fmt::format("{} steps/s now (traced; {} without the cost of tracing), limited by {}",
                     rate_words(predicted.measured), rate_words(predicted.now), limit);
}

std::string ceiling_line(const WhatIfHost& host) {
  const Prediction& ceiling = host.predicted.without_input;
  if (!host.predicted.tells_gains) {
    return fmt::format("{} steps/s if data were always ready, by what the recorded steps waited: {}x",
                       rate_words(ceiling.estimate), factor_words(host.gain_of(ceiling.estimate)));
  }
  return fmt::format("{} steps/s ({} to {}) if data were always ready: {}x", rate_words(ceiling.estimate),
                     rate_words(ceiling.low), rate_words(ceiling.high), factor_words(host.gain_of(ceiling.estimate)));
}

std::string gap_line(const WhatIfHost& host) {
  const IdealGap gap = *host.gap();
  const std::string ideal = ideal_words(*host.view.ideal, gap);
  if (gap.is_open()) {
    return fmt::format("measured ceiling {}; the gap is {} steps/s", ideal, rate_words(gap.size()));
  }
  if (gap.size() >= 0) return fmt::format("measured ceiling {}; there is hardly a gap to close", ideal);
  return fmt::format(
      "the ideal run is slower than this trace: {}, here {}. It has to be the same loop on the same machine: record "
      "both "
      "again, in turn",
      ideal, rate_words(gap.from));
}

std::vector<std::string> whatif_cautions(const WhatIfHost& host) {
  const HostPredictions& predicted = host.predicted;
  std::vector<std::string> cautions;
  if (!predicted.tells_gains) {
    cautions.push_back(
        fmt::format("caution: the model does not reproduce the measured rate (model {}, measured {} steps/s), so what "
                    "a fix gains is not told; --fix KIND gives its order of magnitude",
                    rate_words(predicted.fit * predicted.measured), rate_words(predicted.measured)));
  } else if (!predicted.is_reliable) {
    cautions.push_back(fmt::format(
        "caution: the model does not run quite as fast as the trace (model {}, measured {} steps/s): the ranges "
        "are wider for it",
        rate_words(predicted.fit * predicted.measured), rate_words(predicted.measured)));
  }
  if (predicted.is_distorted) {
    cautions.push_back(
        "caution: recording the trace itself took a large part of each step, so the trace shows another pipeline than "
        "the one that runs without a profiler");
  }
  if (!host.knows_cores()) {
    cautions.push_back(fmt::format("caution: {}: {} assumed, and with more a fix may gain more (--cores N)",
                                   why_cores_are_unknown(host.measured()),
                                   host.measured().cycles.cores == 1 ? "one is" : "no more are"));
  }
  return cautions;
}

std::string words_of(const WhatIfHost& host, const std::vector<Fix>& fixes) {
  return joined(fixes, " + ", [&](const Fix& fix) { return words_of(host, fix); });
}

std::string host_title(const WhatIfHost& host) {
  const std::string id = id_of(host);
  return (id.empty() ? "" : "pipeline " + id + " on ") + host.measured().name();
}

}  // namespace doctor
