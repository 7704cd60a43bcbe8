#include "measure/autotune.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>

#include "tree/dataset_kinds.h"

namespace doctor {
namespace {

const AttributeValue* find_value(const IteratorMeasurement& iterator, std::string_view name) {
  for (const AttributeValue& value : iterator.attributes) {
    if (value.name == name) return &value;
  }
  return nullptr;
}

std::optional<std::string> last_text(const IteratorMeasurement& iterator, std::string_view name) {
  const AttributeValue* const value = find_value(iterator, name);
  return value == nullptr || value->number ? std::nullopt : std::optional(value->text);
}

TunedBy tuned_by(const IteratorMeasurement& iterator) {
  const std::optional<std::string> autotune = last_text(iterator, "autotune");
  if (autotune == "true") return TunedBy::autotune;
  return autotune == "false" ? TunedBy::user : TunedBy::unknown;
}

/// Whether the consumer waits for this iterator more than for any other, and long enough to matter.
bool is_waited_for(const PipelineMeasurement* pipeline, IteratorId iterator) {
  return pipeline != nullptr && pipeline->steady.culprit == iterator && pipeline->input_share() >= kWaitedForShare;
}

Binding binding_of_buffer(const AutotuneStage& stage) {
  if (!stage.fill) return Binding::unknown;
  const double empty = stage.fill->empty_share();
  const double full = stage.fill->full_share();
  if (empty >= kOftenCalls && full >= kOftenCalls) return Binding::bursts;
  if (empty >= kMostCalls) return Binding::empty_buffer;
  return full >= kMostCalls ? Binding::full_buffer : Binding::nothing;
}

Binding binding_of_parallelism(const AutotuneStage& stage, const PipelineMeasurement* pipeline) {
  if (!stage.parallelism) return Binding::unknown;
  if (stage.cycle_length && *stage.parallelism >= *stage.cycle_length) return Binding::cycle_length;
  const std::optional<std::int64_t> budget = pipeline != nullptr ? pipeline->cpu_budget : std::nullopt;
  if (!budget) return Binding::unknown;
  if (*stage.parallelism >= *budget) return Binding::cpu_budget;
  const bool is_low = stage.given == TunedBy::user && *stage.parallelism <= *budget / 2;
  return is_low && is_waited_for(pipeline, stage.iterator) ? Binding::fixed_parallelism : Binding::nothing;
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

bool AutotuneBudget::is_machine_nearly_full() const {
  return reaches(machine_used_mb, machine_ram_mb, kMemoryNearlyFull);
}

bool AutotuneBudget::is_budget_nearly_used() const {
  return reaches(buffered_mb, ram_budget_mb, kBudgetNearlyUsed);
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
                     [&](std::string_view knob) { return find_value(iterator, knob) != nullptr; });
}

AutotuneStage autotune_stage(const HostMeasurement& host, const PipelineMeasurement* pipeline, IteratorId iterator) {
  const IteratorMeasurement& measured = host.iterators[index_of(iterator)];
  const std::string_view kind = kind_of(measured.short_name);
  AutotuneStage stage;
  stage.iterator = iterator;
  stage.given = tuned_by(measured);
  stage.parallelism = last_number(measured, "parallelism");
  if (!stage.parallelism) stage.parallelism = last_number(measured, "num_parallel_calls");
  stage.cycle_length = last_number(measured, "cycle_length");
  // A Prefetch's buffer_size is what the buffer holds, see attribute_history.cpp.
  for (const std::string_view name : {"buffer_limit", "max_batch_results", "buffer_size"}) {
    if (stage.buffer_limit || (kind == "Prefetch" && name == "buffer_size")) continue;
    stage.buffer_limit = last_number(measured, name);
  }
  stage.fill = measured.history.fill;
  const bool is_parallel = find_value(measured, "parallelism") != nullptr || stage.parallelism.has_value();
  if (kind == "Prefetch") {
    stage.binding = binding_of_buffer(stage);
  } else if (is_parallel) {
    stage.binding = binding_of_parallelism(stage, pipeline);
  } else {
    stage.binding = Binding::nothing;
  }
  return stage;
}

AutotuneBudget autotune_budget(const HostMeasurement& host, const std::vector<IteratorId>& members,
                               const PipelineMeasurement* pipeline) {
  static constexpr std::array<std::string_view, 4> kNames = {"cpu_budget", "algorithm", "threadpool_size",
                                                             "ram_budget_megabytes"};
  AutotuneBudget budget;
  if (pipeline != nullptr) budget.cpu_cores = pipeline->cpu_budget;
  for (const IteratorId member : members) {
    const IteratorMeasurement& iterator = host.iterators[index_of(member)];
    const auto says = [&](std::string_view name) { return find_value(iterator, name) != nullptr; };
    if (budget.root == kNoIterator && std::any_of(kNames.begin(), kNames.end(), says)) budget.root = member;
    const std::optional<std::int64_t> buffered = last_number(iterator, "buffered_bytes_MB");
    if (buffered) budget.buffered_mb = budget.buffered_mb.value_or(0) + *buffered;
  }
  if (budget.root == kNoIterator) return budget;
  const IteratorMeasurement& root = host.iterators[index_of(budget.root)];
  if (!budget.cpu_cores) budget.cpu_cores = last_number(root, "cpu_budget");
  budget.threadpool_size = last_number(root, "threadpool_size");
  budget.intra_op_parallelism = last_number(root, "intra_op_parallelism");
  budget.algorithm = last_text(root, "algorithm");
  budget.ram_budget_mb = last_number(root, "ram_budget_megabytes");
  read_machine_memory(last_text(root, "ram_usage_megabytes").value_or(""), budget);
  return budget;
}

}  // namespace doctor
