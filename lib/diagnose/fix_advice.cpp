#include "diagnose/fix_advice.h"

#include <fmt/format.h>

#include "diagnose/caching.h"
#include "diagnose/tuning.h"
#include "diagnose/user_code.h"
#include "model/candidates.h"

namespace doctor {
namespace {

std::string calls_of(const Fix& fix) {
  return fix.parallelism ? fmt::format("{}", *fix.parallelism) : "tf.data.AUTOTUNE";
}

/// A fix that stands beside an iterator of TensorFlow's helpers can be made; one of the iterator itself cannot.
bool changes_iterator(FixKind kind) {
  return kind != FixKind::cache && kind != FixKind::prefetch_below;
}

/// What stands before an iterator and spoils a cache after it: a repeat without an end, or a shuffle of elements. Of
/// several the first of the pipeline, before which there is none.
IteratorId spoils_cache_after(const HostMeasurement& host, IteratorId iterator) {
  const IteratorId endless = endless_part(host, iterator);
  const std::vector<IteratorId> below = host.iterators_below(iterator);
  const auto found = std::find_if(below.rbegin(), below.rend(), [&](IteratorId id) {
    return id == endless || host.iterators[id].shuffles_elements();
  });
  return found == below.rend() ? kNoIterator : *found;
}

/// What an iterator hands out, in the user's words: of the last one that a helper of TensorFlow makes the helper, whose
/// other iterators nobody sees. Where its line is known, that tells more.
std::string describe_output(const HostMeasurement& host, IteratorId id) {
  const IteratorMeasurement& iterator = host.iterators[id];
  const bool is_last = iterator.parent == kNoIterator || host.iterators[iterator.parent].maker != iterator.maker;
  const bool has_line = iterator.line() != nullptr;
  return iterator.maker.empty() || !is_last || has_line ? describe(host, id) : iterator.user_call.method();
}

Advice advice_to_cache_after(const HostMeasurement& host, const Fix& fix) {
  const std::string name = describe_output(host, fix.iterator);
  const IteratorId spoiler = spoils_cache_after(host, fix.iterator);
  if (spoiler == kNoIterator) {
    return {{"Cache after " + name, "From the second epoch on nothing before it runs again."},
            "dataset = dataset.cache()  # after " + name,
            {fix}};
  }
  const std::string stands = describe(host, spoiler);
  const bool shuffles = host.iterators[spoiler].has(Trait::shuffle);
  if (shuffles && !host.iterators[spoiler].maker.empty()) {
    return {
        {fmt::format("Cache after {}, then shuffle", name),
         fmt::format("A cache keeps the order of the first epoch. The shuffle inside of {} goes with shuffle=False.",
                     host.iterators[spoiler].user_call.method())},
        fmt::format("dataset = dataset.cache().shuffle(n)  # after {}", name),
        {fix}};
  }
  return {{fmt::format("Move {} and a cache before {}", name, stands),
           shuffles ? "A cache after both would keep one order for all epochs."
                    : "A cache after both would never be complete."},
          fmt::format("dataset = dataset.map(f).cache()  # before {}; f must not be random", stands),
          {fix}};
}

}  // namespace

bool has_no_dataset(const HostMeasurement& host, const Fix& fix) {
  IteratorId iterator = fix.iterator;
  if (iterator == kNoIterator && !host.cycles.consumers.empty()) iterator = host.cycles.consumers.front().root;
  return iterator != kNoIterator && is_made_by_keras(host, iterator);
}

bool has_advice_for(const HostMeasurement& host, const Fix& fix) {
  if (has_no_dataset(host, fix)) return false;
  switch (fix.kind) {
    case FixKind::files:
    case FixKind::free:
    case FixKind::none:
      return false;
    case FixKind::threadpool:
      return fix.parallelism.has_value();
    default:
      return fix.iterator == kNoIterator || !changes_iterator(fix.kind) || host.iterators[fix.iterator].maker.empty();
  }
}

std::optional<Advice> advice_for_rows(const HostMeasurement& host, IteratorId iterator) {
  std::vector<IteratorId> around = host.iterators_above(iterator);
  around.insert(around.begin(), iterator);
  if (std::none_of(around.begin(), around.end(), [&](IteratorId id) { return batches_shuffled_rows(host, id); })) {
    return std::nullopt;
  }
  return Advice{{"Shuffle and batch row indices, and gather whole batches",
                 "Each row is copied out of the arrays, shuffled and put together again by itself now."},
                "dataset = tf.data.Dataset.range(count).shuffle(count).batch(batch_size).map(\n"
                "    lambda rows: (tf.gather(x, rows), tf.gather(y, rows)), num_parallel_calls=tf.data.AUTOTUNE)"};
}

std::string code_to_interleave_parts(std::string_view cycle_argument) {
  return fmt::format(
      "dataset = tf.data.Dataset.from_tensor_slices(parts).interleave(\n"
      "    dataset_of_part, {}num_parallel_calls=tf.data.AUTOTUNE, deterministic=False)",
      cycle_argument);
}

std::string cycle_argument(const Fix& fix) {
  return fix.cycle_length ? fmt::format("cycle_length={}, ", *fix.cycle_length) : std::string();
}

std::optional<Advice> advice_for(const HostMeasurement& host, const Fix& fix) {
  if (!has_advice_for(host, fix)) return std::nullopt;
  const bool has_iterator = fix.iterator != kNoIterator;
  const std::string name = has_iterator ? describe(host, fix.iterator) : std::string();
  const auto advice = [&](AdviceText text, std::string code) {
    return Advice{std::move(text), std::move(code), {fix}};
  };
  switch (fix.kind) {
    case FixKind::parallel_map:
      return advice("Run " + name + " in parallel",
                    fmt::format("dataset = dataset.map(f, num_parallel_calls={})", calls_of(fix)));
    case FixKind::parallel_interleave:
      // More calls than datasets in the cycle are an error.
      return advice("Run " + name + " in parallel",
                    fix.parallelism ? fmt::format("dataset = dataset.interleave(f, cycle_length={0}, "
                                                  "num_parallel_calls={0})",
                                                  *fix.parallelism)
                                    : fmt::format("dataset = dataset.interleave(f, {}num_parallel_calls="
                                                  "tf.data.AUTOTUNE)",
                                                  cycle_argument(fix)));
    case FixKind::parallel_batch:
      return advice("Run " + name + " in parallel",
                    fmt::format("dataset = dataset.batch(batch_size, num_parallel_calls={})", calls_of(fix)));
    case FixKind::prefetch:
      return advice({"Prefetch at the end", "The next elements are then made while the model computes."},
                    fmt::format("dataset = dataset.prefetch({})  # the last transformation", calls_of(fix)));
    case FixKind::iterate_once:
      if (host.cycles.consumers.empty() || !iterates_for_each_step(host.cycles.consumers.front())) {
        return advice({"Take the steps of all epochs from one iterator",
                       "The first elements of the next epoch are then made while this one ends."},
                      std::string(kIterateOnce));
      }
      return advice({"Make one iterator before the loop", "Take each step's element from it."},
                    "iterator = iter(dataset.repeat())\nfor step in range(steps):\n    batch = next(iterator)");
    case FixKind::prefetch_below:
      return advice({"Prefetch before " + name, "What comes before it then works on a thread of its own."},
                    fmt::format("dataset = dataset.prefetch({})  # before {}", calls_of(fix), name));
    case FixKind::cache:
      return advice_to_cache_after(host, fix);
    case FixKind::filter_first:
      return advice({"Filter before the map", "No work is then done on elements that are dropped."},
                    "dataset = dataset.filter(predicate).map(f, num_parallel_calls=tf.data.AUTOTUNE)");
    case FixKind::map_after:
      return advice({"Move " + name + " after the filter", "No work is then done on elements that are dropped."},
                    "dataset = dataset.filter(predicate).map(f, num_parallel_calls=tf.data.AUTOTUNE)");
    case FixKind::skip_first:
      return advice({"Skip before the map", "It works on elements that nobody takes otherwise."},
                    "dataset = dataset.skip(n).map(f, num_parallel_calls=tf.data.AUTOTUNE)");
    case FixKind::parallel_filter:
      return advice("Compute the predicate of " + name + " in a parallel map",
                    "dataset = dataset.map(lambda x: (x, predicate(x)), num_parallel_calls=tf.data.AUTOTUNE)\n"
                    "dataset = dataset.filter(lambda x, keep: keep).map(lambda x, keep: x)");
    case FixKind::split_cache:
      return advice(
          {"Split " + name + ", cache between",
           "What is the same in every epoch goes before the cache, what is random after it, as does the shuffle."},
          code_to_split(host, fix.iterator));
    case FixKind::vectorize:
      return advice("Batch first, so that " + name + " runs once for a batch",
                    "dataset = dataset.batch(n).map(f_of_batches)");
    case FixKind::threadpool:
      return advice("Give tf.data more threads",
                    code_with_pool(*fix.parallelism, "dataset = dataset.with_options(options)"));
    case FixKind::buffer:
      return advice("Let the prefetch keep more elements ready",
                    fmt::format("dataset = dataset.prefetch({})", calls_of(fix)));
    case FixKind::unordered:
      return advice("Let the elements of " + name + " overtake each other",
                    "dataset = dataset.map(f, num_parallel_calls=tf.data.AUTOTUNE, deterministic=False)");
    default:
      return std::nullopt;
  }
}

}  // namespace doctor
