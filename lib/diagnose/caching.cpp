#include "diagnose/caching.h"

#include <fmt/format.h>

#include "diagnose/tuning.h"
#include "diagnose/user_code.h"
#include "measure/functions/function_types.h"
#include "text/numbers.h"

namespace doctor {
namespace {

/// Where a cache of the culprit's result could stand: after it, or after the outermost transformation that makes the
/// dataset in which it is.
IteratorId place_of_cache(const RankedPipeline& ranked) {
  IteratorId place = ranked.judgement.culprit;
  for (const IteratorId id : ranked.host.iterators_above(place)) {
    if (ranked[id].has(Trait::makes_datasets)) place = id;
  }
  return place;
}

/// The function reads the files, so what was shuffled before it is their names.
bool reads_files_by_name(const CulpritFunction& function) {
  return std::any_of(function.ops.begin(), function.ops.end(),
                     [](const FunctionOp& op) { return op.op == "ReadFile"; });
}

/// What shuffles the names of files of which each is one element, so that the order of the names is that of the
/// elements; kNoIterator if nothing does.
IteratorId shuffle_of_elements_by_name(const RankedPipeline& ranked) {
  if (!reads_files_by_name(ranked.function())) return kNoIterator;
  return ranked.host.first_below(ranked.judgement.culprit,
                                 [](const OfKind& iterator) { return iterator.has(Trait::shuffle); });
}

/// A cache after the culprit keeps the order of the first epoch, unless a shuffle after it takes the place of that one.
Advice advice_to_shuffle_after_cache(const RankedPipeline& ranked, IteratorId shuffle) {
  const std::string_view maker = ranked[shuffle].maker;
  const std::string name =
      maker.empty() ? describe(ranked.host, ranked.judgement.culprit) : ranked[shuffle].user_call.method();
  return {{fmt::format("Cache after {}, then shuffle", name),
           fmt::format("A cache keeps the order of the first epoch. {} It must fit in memory{}.",
                       maker.empty() ? "The shuffle before it goes." : "Its own shuffle goes with shuffle=False.",
                       size_of_elements(ranked))},
          maker.empty() ? "dataset = dataset.map(load).cache().shuffle(n)  # no shuffle before"
                        : fmt::format("dataset = dataset.cache().shuffle(n)  # after {}, with shuffle=False", name),
          {{FixKind::cache, ranked.judgement.culprit, {}, {}}}};
}

bool is_cache(const IteratorMeasurement& iterator) {
  return iterator.has(Trait::cache);
}

/// Whether a cache after it keeps what should differ from epoch to epoch, or what a cache holds already.
bool stands_against_cache(const IteratorMeasurement& iterator) {
  return iterator.shuffles_elements() || is_cache(iterator) || !iterator.random_ops.empty();
}

/// Whether what comes out of the iterator and all below it is the same in every epoch, and takes work to make.
bool is_same_every_epoch(const RankedPipeline& ranked, IteratorId iterator) {
  if (!ranked[iterator].has(Trait::worth_caching) || stands_against_cache(ranked[iterator])) return false;
  return endless_part(ranked.host, iterator) == kNoIterator &&
         ranked.host.first_below(iterator, stands_against_cache) == kNoIterator;
}

/// Whether most of the work up to the culprit is done once a step has its element. A cache there saves nothing else:
/// where it saved a quarter of the work (reading the JPEGs that the culprit decodes), steps took 1.1 times as long.
bool holds_most_work(const RankedPipeline& ranked, IteratorId step) {
  const auto work_up_to = [&](IteratorId id) {
    Picoseconds work = ranked[id].work();
    for (const IteratorId below : ranked.host.iterators_below(id)) work += ranked[below].work();
    return work;
  };
  return 2 * work_up_to(step) >= work_up_to(ranked.judgement.culprit);
}

/// The latest step before the culprit after which a cache would keep nothing random, if that holds most of the work;
/// kNoIterator if there is none. What comes out of a source alone took no work that a cache would save.
IteratorId cacheable_before_culprit(const RankedPipeline& ranked) {
  for (const IteratorId id : ranked.host.iterators_below(ranked.judgement.culprit)) {
    if (!is_same_every_epoch(ranked, id) || ranked.host.has_above(id, Trait::makes_datasets)) continue;
    return holds_most_work(ranked, id) ? id : kNoIterator;
  }
  return kNoIterator;
}

/// The only thing before the culprit, or in it, that differs from epoch to epoch, where that is a shuffle of elements;
/// kNoIterator where something else does, or nothing.
IteratorId only_shuffle_before_culprit(const RankedPipeline& ranked) {
  const CulpritFunction function = ranked.function();
  const bool is_random = !ranked.culprit().random_ops.empty() ||
                         std::any_of(function.ops.begin(), function.ops.end(),
                                     [](const FunctionOp& op) { return op.op.find("Random") != std::string::npos; });
  if (is_random || endless_before(ranked) != kNoIterator) return kNoIterator;
  IteratorId shuffle = kNoIterator;
  for (const IteratorId id : ranked.host.iterators_below(place_of_cache(ranked))) {
    if (id == ranked.judgement.culprit) continue;
    if (!ranked[id].random_ops.empty()) return kNoIterator;
    if (ranked[id].shuffles_elements()) shuffle = id;
  }
  return shuffle;
}

/// A cache after the culprit would repeat the same random choices in every epoch.
Advice advice_to_cache_before_randomness(const RankedPipeline& ranked, const std::string& random) {
  if (const IteratorId place = cacheable_before_culprit(ranked); place != kNoIterator) {
    const std::string name = describe(ranked.host, place);
    return {{fmt::format("Cache after {}", name),
             fmt::format("What is the same in every epoch ends there: after it {}, and a cache would repeat the same "
                         "random choices in every epoch.",
                         random)},
            fmt::format("dataset = dataset.cache()  # after {}, before what is random", name),
            {{FixKind::cache, place, {}, {}}}};
  }
  if (const IteratorId shuffle = only_shuffle_before_culprit(ranked); shuffle != kNoIterator) {
    return advice_to_shuffle_after_cache(ranked, shuffle);
  }
  if (!ranked.culprit().has(Trait::map)) {
    return {{"Cache before what is random", "What is: " + random + "."}, std::nullopt};
  }
  if (are_mostly_random(ranked.culprit().function_ops)) {
    return {{"Cache what comes before it, if there is work in that",
             fmt::format(
                 "Most of the function is random ({}), and a cache after it would repeat the same random choices in "
                 "every epoch.",
                 random)},
            std::nullopt};
  }
  return {{fmt::format("Split {}, cache between", describe(ranked.host, ranked.judgement.culprit)),
           fmt::format("What is the same in every epoch goes before the cache, what is random after it ({}).", random)},
          code_to_split(ranked.host, ranked.judgement.culprit),
          {{FixKind::split_cache, ranked.judgement.culprit, {}, {}}}};
}

/// Whether what an iterator makes ends although one of its inputs does not.
template <typename IsEndless>
bool ends_before(const IteratorMeasurement& iterator, const IsEndless& is_endless) {
  // One of which a single input is in the trace has others, which took no time.
  if (iterator.has(Trait::zip)) {
    return iterator.children.size() < 2 || !std::all_of(iterator.children.begin(), iterator.children.end(), is_endless);
  }
  return iterator.has(Trait::take | Trait::take_while);
}

}  // namespace

IteratorId uncached_repeat_above(const RankedPipeline& ranked) {
  if (is_cache(ranked.culprit())) return kNoIterator;
  IteratorId repeat = kNoIterator;
  for (const IteratorId id : ranked.host.iterators_above(ranked.judgement.culprit)) {
    if (is_cache(ranked[id])) return kNoIterator;
    if (ranked[id].has(Trait::repeat)) repeat = id;
  }
  return repeat;
}

bool is_worth_caching(const RankedPipeline& ranked) {
  const DatasetKind& kind = ranked.culprit().kind();
  return !ranked.culprit().is_device_hop && (kind.reads_files() || kind.has(Trait::worth_caching));
}

std::string randomness_of_culprit(const RankedPipeline& ranked) {
  const IteratorId culprit = ranked.judgement.culprit;
  for (const FunctionOp& op : ranked.function().ops) {
    if (op.op.find("Random") != std::string::npos) return "its function uses " + op.op;
  }
  if (!ranked.culprit().random_ops.empty()) return "its function uses " + ranked.culprit().random_ops.front();
  const bool has_names = reads_files_by_name(ranked.function());
  for (const IteratorId id : ranked.host.iterators_below(place_of_cache(ranked))) {
    if (id != culprit && !ranked[id].random_ops.empty()) {
      return fmt::format("{} before it uses {}", describe(ranked.host, id), ranked[id].random_ops.front());
    }
    if (!has_names && ranked[id].shuffles_elements()) {
      return describe(ranked.host, id) + " stands before it";
    }
  }
  return {};
}

IteratorId endless_part(const HostMeasurement& host, IteratorId iterator) {
  std::vector<IteratorId> ids = host.iterators_below(iterator);
  ids.insert(ids.begin(), iterator);
  std::vector<IteratorId> parts(host.iterators.size(), kNoIterator);
  // Inputs first, which stand after what is made of them.
  for (auto id = ids.rbegin(); id != ids.rend(); ++id) {
    const IteratorMeasurement& made = host.iterators[*id];
    const auto is_endless = [&](IteratorId input) { return parts[index_of(input)] != kNoIterator; };
    const auto first = std::find_if(made.children.begin(), made.children.end(), is_endless);
    if (made.has(Trait::endless)) {
      parts[index_of(*id)] = *id;
    } else if (first != made.children.end() && !ends_before(made, is_endless)) {
      parts[index_of(*id)] = parts[index_of(*first)];
    }
  }
  return parts[index_of(iterator)];
}

IteratorId endless_before(const RankedPipeline& ranked) {
  return endless_part(ranked.host, place_of_cache(ranked));
}

IteratorId place_of_cache_after(const HostMeasurement& host, IteratorId iterator) {
  IteratorId place = iterator;
  for (const IteratorId above : host.iterators_above(iterator)) {
    if (stands_against_cache(host.iterators[above]) || host.iterators[above].has(Trait::endless)) break;
    if (host.iterators[iterator].is_of_call_of(host.iterators[above])) place = above;
  }
  return place;
}

std::string code_to_split(const HostMeasurement& host, IteratorId map) {
  const auto shuffles = [](const IteratorMeasurement& iterator) { return iterator.shuffles_elements(); };
  const bool is_shuffled = host.first_below(map, shuffles) != kNoIterator;
  // A cache after a repeat without an end is never complete.
  const bool is_repeated = endless_part(host, map) != kNoIterator;
  return fmt::format(
      "dataset = dataset.map(load, num_parallel_calls=tf.data.AUTOTUNE).cache(){}\n"
      "dataset = dataset.map(randomize, num_parallel_calls=tf.data.AUTOTUNE)",
      std::string(is_shuffled ? ".shuffle(n)" : "") + (is_repeated ? ".repeat()  # no repeat before" : ""));
}

std::optional<Advice> advice_to_cache(const RankedPipeline& ranked) {
  const bool is_cached = is_cache(ranked.culprit()) || ranked.host.has_above(ranked.judgement.culprit, Trait::cache);
  if (is_cached || !is_worth_caching(ranked)) return std::nullopt;
  if (const std::string random = randomness_of_culprit(ranked); !random.empty()) {
    return advice_to_cache_before_randomness(ranked, random);
  }
  if (const IteratorId endless = endless_before(ranked); endless != kNoIterator) {
    return Advice{
        {fmt::format("Move {} and a cache before repeat", describe(ranked.host, ranked.judgement.culprit)),
         fmt::format("If the result fits in memory{} and is the same in every epoch. A cache after it would never be "
                     "complete, because {} stands before it.",
                     size_of_elements(ranked), describe(ranked.host, endless))},
        ranked.culprit().has(Trait::map) ? "dataset = dataset.map(f).cache().repeat()  # f must not be random"
                                         : "dataset = dataset.cache().repeat()  # the cache before repeat()",
        {{FixKind::cache, ranked.judgement.culprit, {}, {}}}};
  }
  if (const IteratorId shuffle = shuffle_of_elements_by_name(ranked); shuffle != kNoIterator) {
    return advice_to_shuffle_after_cache(ranked, shuffle);
  }
  const bool repeats = uncached_repeat_above(ranked) != kNoIterator;
  const IteratorId place = place_of_cache_after(ranked.host, ranked.judgement.culprit);
  const std::string name = describe_end_of_call(ranked.host, place);
  return Advice{
      {fmt::format("Cache after {}", name),
       fmt::format("If that fits in memory{} and is the same in every epoch (cache(filename) keeps it on disk). Random "
                   "augmentation and shuffling belong after the cache.",
                   size_of_elements(ranked))},
      fmt::format("dataset = dataset.cache()  # after {}{}", name, repeats ? ", before repeat()" : ""),
      {{FixKind::cache, place, {}, {}}}};
}

std::string size_of_elements(const RankedPipeline& ranked) {
  // The runtime rounds down to whole megabytes: few of them say too little.
  constexpr double kEnoughMegabytes = 4;
  std::vector<IteratorId> buffers = {ranked.judgement.culprit};
  const std::vector<IteratorId> above = ranked.host.iterators_above(ranked.judgement.culprit);
  if (!above.empty()) buffers.push_back(above.front());
  for (const IteratorId id : buffers) {
    const std::optional<double> megabytes = buffered_megabytes(ranked[id]);
    const std::optional<std::int64_t> elements = ranked[id].number("buffered_elements");
    if (!megabytes || !elements || *elements <= 0 || *megabytes < kEnoughMegabytes) continue;
    return fmt::format(" (about {:.1f} MB an element)", *megabytes / static_cast<double>(*elements));
  }
  return {};
}

const CacheFill* largest_cache_fill(const PipelineMeasurement& pipeline) {
  const CacheFill* largest = nullptr;
  for (const CacheFill& fill : pipeline.cache_fills) {
    if (largest == nullptr || fill.input_calls > largest->input_calls) largest = &fill;
  }
  return largest;
}

IteratorId take_after_cache(const HostMeasurement& host, IteratorId cache) {
  const IteratorId end =
      host.first_above(cache, [](const OfKind& iterator) { return iterator.has(Trait::repeat | Trait::take); });
  return end == kNoIterator || host.iterators[end].has(Trait::repeat) ? kNoIterator : end;
}

std::optional<CacheFill> filling_cache(const HostMeasurement& host, const PipelineMeasurement& pipeline) {
  const CacheFill* const fill = largest_cache_fill(pipeline);
  if (fill == nullptr || take_after_cache(host, fill->iterator) != kNoIterator) return std::nullopt;
  return *fill;
}

}  // namespace doctor
