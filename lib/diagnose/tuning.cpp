#include "diagnose/tuning.h"

#include <fmt/format.h>

#include <charconv>
#include <system_error>

#include "diagnose/user_code.h"
#include "measure/functions/op_kind.h"
#include "model/interleaving.h"
#include "text/numbers.h"

namespace doctor {
namespace {

constexpr std::string_view kRamBudget = "ram_budget_megabytes";

/// An exabyte: a number beyond it is none of memory, and sums of such would overflow.
constexpr std::int64_t kMostMegabytes = std::int64_t{1} << 40;

std::optional<std::int64_t> megabytes(const IteratorMeasurement& iterator, std::string_view attribute) {
  const std::optional<std::int64_t> number = last_number(iterator, attribute);
  return number && *number >= 0 && *number <= kMostMegabytes ? number : std::nullopt;
}

std::optional<std::string> last_text(const IteratorMeasurement& iterator, std::string_view name) {
  const AttributeValue* const value = iterator.find(name);
  return value == nullptr || value->number ? std::nullopt : std::optional(value->text);
}

/// Mean time from the start of one steady call to the start of the next; 0 with fewer than two.
double mean_cadence(const PipelineMeasurement& pipeline) {
  if (pipeline.calls.size() < pipeline.warmup_count + 2) return 0;
  const Picoseconds span = pipeline.calls.back().start - pipeline.calls[pipeline.warmup_count].start;
  return static_cast<double>(span) / static_cast<double>(pipeline.calls.size() - pipeline.warmup_count - 1);
}

/// Whether the consumer waits for this iterator more than for any other, and long enough to matter.
bool is_waited_for(const PipelineMeasurement* pipeline, IteratorId iterator, const ThresholdValues& thresholds) {
  return pipeline != nullptr && pipeline->steady.culprit == iterator &&
         pipeline->input_share() >= thresholds["min_mild_share"];
}

Binding binding_of_buffer(const AutotuneStage& stage, const ThresholdValues& thresholds) {
  if (!stage.fill) return Binding::unknown;
  const double empty = stage.fill->empty_share();
  const double full = stage.fill->full_share();
  if (empty >= thresholds["often"] && full >= thresholds["often"]) return Binding::bursts;
  if (empty >= thresholds["mostly"]) return Binding::empty_buffer;
  return full >= thresholds["mostly"] ? Binding::full_buffer : Binding::nothing;
}

Binding binding_of_parallelism(const AutotuneStage& stage, const PipelineMeasurement* pipeline,
                               const ThresholdValues& thresholds) {
  if (!stage.parallelism) return Binding::unknown;
  if (stage.cycle_length && *stage.parallelism >= *stage.cycle_length) return Binding::cycle_length;
  const std::optional<std::int64_t> budget = pipeline != nullptr ? pipeline->cpu_budget : std::nullopt;
  if (!budget) return Binding::unknown;
  if (*stage.parallelism >= *budget) return Binding::cpu_budget;
  const bool is_low = stage.is_autotuned == false && *stage.parallelism <= *budget / 2;
  return is_low && is_waited_for(pipeline, stage.iterator, thresholds) ? Binding::fixed_parallelism : Binding::nothing;
}

/// "6589 out of 25276 (26.07%)", as the runtime prints the memory of the machine in megabytes.
void read_machine_memory(std::string_view text, AutotuneBudget& budget) {
  constexpr std::string_view kBetween = " out of ";
  std::int64_t used = 0;
  std::int64_t total = 0;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, used);
  if (first.ec != std::errc{}) return;
  const std::string_view rest(first.ptr, static_cast<std::size_t>(end - first.ptr));
  if (!rest.starts_with(kBetween)) return;
  if (std::from_chars(first.ptr + kBetween.size(), end, total).ec != std::errc{}) return;
  budget.machine_used_mb = used;
  budget.machine_ram_mb = total;
}

bool reaches(const std::optional<std::int64_t>& part, const std::optional<std::int64_t>& whole, double share) {
  return part && whole && *whole > 0 && static_cast<double>(*part) >= share * static_cast<double>(*whole);
}

}  // namespace

IteratorId parallel_stage_of(const RankedPipeline& ranked) {
  const bool works_on_several = ranked.culprit().has(Trait::parallel) && !ranked.culprit().is_sequential_map();
  if (works_on_several && !makes_one_element_a_dataset(ranked.host, ranked.judgement.culprit)) {
    return ranked.judgement.culprit;
  }
  return ranked.host.first_above(ranked.judgement.culprit, std::mem_fn(&IteratorMeasurement::is_parallel_interleave));
}

std::optional<std::int64_t> highest_parallelism(const RankedPipeline& ranked, IteratorId stage) {
  if (ranked[stage].is_parallel_interleave()) return ranked[stage].number("cycle_length");
  const IteratorId root = ranked[stage].root;
  const std::optional<std::int64_t> pool = root == kNoIterator ? std::nullopt : ranked[root].number("threadpool_size");
  return pool ? pool : ranked.pipeline.cpu_budget;
}

std::optional<std::int64_t> parallelism_to_try(const RankedPipeline& ranked, IteratorId stage) {
  const std::optional<std::int64_t> now = ranked[stage].number("parallelism");
  const std::int64_t most = std::max(now.value_or(0), ranked.pipeline.cpu_budget.value_or(0));
  // A damaged trace may say anything.
  constexpr std::int64_t kSane = 1 << 20;
  return most > 0 && most < kSane ? std::optional(2 * most) : std::nullopt;
}

std::optional<std::int64_t> pool_that_binds(const RankedPipeline& ranked, IteratorId stage) {
  const IteratorId root = ranked[stage].root;
  const std::optional<std::int64_t> pool = root == kNoIterator ? std::nullopt : ranked[root].number("threadpool_size");
  const std::int64_t cores = ranked.pipeline.cpu_budget.value_or(0);
  if (!pool || *pool <= 0 || *pool >= cores) return std::nullopt;
  const std::optional<std::int64_t> parallelism = ranked[stage].number("parallelism");
  return !parallelism || *parallelism >= *pool ? pool : std::nullopt;
}

std::string code_with_pool(std::int64_t threads, std::string_view last_line) {
  return fmt::format("options = tf.data.Options()\noptions.threading.private_threadpool_size = {}\n{}", threads,
                     last_line);
}

Advice advice_for_small_pool(const RankedPipeline& ranked, std::int64_t threads) {
  const std::int64_t cores = ranked.pipeline.cpu_budget.value_or(threads);
  return {{"Give tf.data a thread for each core",
           fmt::format("Or leave private_threadpool_size out: it keeps the functions on {} of {}, and more calls gain "
                       "nothing before that.",
                       threads, format_count(static_cast<std::uint64_t>(cores), "core"))},
          code_with_pool(cores, "dataset = dataset.with_options(options)"),
          {{FixKind::threadpool, kNoIterator, cores, {}}}};
}

double share_that_waits(const RankedPipeline& ranked) {
  const bool may_sleep = ranked.host.cycles.python_lock != PythonLock::held;
  const CulpritFunction function = ranked.function();
  const Picoseconds waiting =
      time_of(function.ops, waits_for_files) + (may_sleep ? time_of(function.ops, is_python_op) : 0);
  const Picoseconds all = function.time_of_ops();
  return all > 0 ? static_cast<double>(waiting) / static_cast<double>(all) : 0;
}

IteratorId unseen_copies_after(const HostMeasurement& host, IteratorId iterator) {
  const auto copies = [](const OfKind& one) { return one.has(Trait::batch) && one.has(Trait::parallel); };
  return copies(host.iterators[iterator]) ? iterator : host.first_above(iterator, copies);
}

std::optional<double> producer_share(const RankedPipeline& ranked) {
  // The prefetch of a device pipeline is not the user's.
  if (ranked.pipeline.is_device) return std::nullopt;
  const IteratorId prefetch = ranked.pipeline.prefetch;
  const double cadence = mean_cadence(ranked.pipeline);
  if (prefetch == kNoIterator || cadence <= 0 || ranked[prefetch].children.empty()) return std::nullopt;
  const IteratorMeasurement& input = ranked[ranked[prefetch].children.front()];
  if (input.calls == 0) return std::nullopt;
  return static_cast<double>(input.total) / static_cast<double>(input.calls) / cadence;
}

bool keeps_ops_on_one_thread(const RankedPipeline& ranked) {
  const auto limits = [](const IteratorMeasurement& above) {
    return above.has(Trait::limits_op_threads) || above.number("intra_op_parallelism") == 1;
  };
  return ranked.host.first_above(ranked.judgement.culprit, limits) != kNoIterator;
}

std::optional<double> ram_budget_megabytes(const HostMeasurement& host, IteratorId iterator) {
  const IteratorId root = host.iterators[iterator].root;
  if (root == kNoIterator) return std::nullopt;
  const std::optional<std::int64_t> budget = megabytes(host.iterators[root], kRamBudget);
  return budget && *budget > 0 ? std::optional(static_cast<double>(*budget)) : std::nullopt;
}

std::optional<double> buffered_megabytes(const IteratorMeasurement& iterator) {
  const std::optional<std::int64_t> buffered = megabytes(iterator, "buffered_bytes_MB");
  return buffered ? std::optional(static_cast<double>(*buffered)) : std::nullopt;
}

std::optional<double> buffered_megabytes(const HostMeasurement& host, const std::vector<IteratorId>& members) {
  std::optional<double> sum;
  for (const IteratorId member : members) {
    const std::optional<double> buffered = buffered_megabytes(host.iterators[member]);
    if (buffered) sum = sum.value_or(0) + *buffered;
  }
  return sum;
}

std::optional<std::int64_t> last_number(const IteratorMeasurement& iterator, std::string_view attribute) {
  for (const AttributeHistory& history : iterator.history.attributes) {
    if (history.name == attribute && history.number_count > 0) return history.last.number;
  }
  return iterator.number(attribute);
}

bool is_tunable(const IteratorMeasurement& iterator) {
  static constexpr std::array<std::string_view, 7> kKnobs = {"autotune",     "parallelism", "num_parallel_calls",
                                                             "buffer_limit", "buffer_size", "max_batch_results",
                                                             "cycle_length"};
  return std::any_of(kKnobs.begin(), kKnobs.end(),
                     [&](std::string_view knob) { return iterator.find(knob) != nullptr; });
}

AutotuneStage autotune_stage(const HostMeasurement& host, const PipelineMeasurement* pipeline, IteratorId iterator,
                             const ThresholdValues& thresholds) {
  const IteratorMeasurement& measured = host.iterators[iterator];
  const bool is_prefetch = measured.has(Trait::prefetch);
  AutotuneStage stage;
  stage.iterator = iterator;
  stage.is_autotuned = is_autotuned(measured);
  stage.parallelism = last_number(measured, "parallelism");
  if (!stage.parallelism) stage.parallelism = last_number(measured, "num_parallel_calls");
  stage.cycle_length = last_number(measured, "cycle_length");
  // A Prefetch's buffer_size is what the buffer holds, see attribute_history.cpp.
  for (const std::string_view name : {"buffer_limit", "max_batch_results", "buffer_size"}) {
    if (stage.buffer_limit || (is_prefetch && name == "buffer_size")) continue;
    stage.buffer_limit = last_number(measured, name);
  }
  stage.fill = measured.history.fill;
  const bool is_parallel = measured.find("parallelism") != nullptr || stage.parallelism.has_value();
  if (is_prefetch) {
    stage.binding = binding_of_buffer(stage, thresholds);
  } else if (is_parallel) {
    stage.binding = binding_of_parallelism(stage, pipeline, thresholds);
  } else {
    stage.binding = Binding::nothing;
  }
  return stage;
}

AutotuneBudget autotune_budget(const HostMeasurement& host, const std::vector<IteratorId>& members,
                               const PipelineMeasurement* pipeline, const ThresholdValues& thresholds) {
  static constexpr std::array<std::string_view, 4> kNames = {"cpu_budget", "algorithm", "threadpool_size", kRamBudget};
  AutotuneBudget budget;
  if (pipeline != nullptr) budget.cpu_cores = pipeline->cpu_budget;
  for (const IteratorId member : members) {
    const IteratorMeasurement& iterator = host.iterators[member];
    const auto says = [&](std::string_view name) { return iterator.find(name) != nullptr; };
    if (budget.root == kNoIterator && std::any_of(kNames.begin(), kNames.end(), says)) budget.root = member;
  }
  if (const std::optional<double> buffered = buffered_megabytes(host, members)) {
    budget.buffered_mb = static_cast<std::int64_t>(*buffered);
  }
  if (budget.root == kNoIterator) return budget;
  const IteratorMeasurement& root = host.iterators[budget.root];
  if (!budget.cpu_cores) budget.cpu_cores = last_number(root, "cpu_budget");
  budget.threadpool_size = last_number(root, "threadpool_size");
  budget.intra_op_parallelism = last_number(root, "intra_op_parallelism");
  budget.algorithm = last_text(root, "algorithm");
  budget.ram_budget_mb = megabytes(root, kRamBudget);
  read_machine_memory(last_text(root, "ram_usage_megabytes").value_or(""), budget);
  budget.is_machine_nearly_full = reaches(budget.machine_used_mb, budget.machine_ram_mb, thresholds["memory_full"]);
  budget.is_budget_nearly_used = reaches(budget.buffered_mb, budget.ram_budget_mb, thresholds["ram_budget_used"]);
  return budget;
}

}  // namespace doctor
