#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "diagnose/dataset_words.h"
#include "diagnose/user_code.h"
#include "measure/step_table.h"
#include "report/memory_parts.h"
#include "report/show_pages.h"
#include "text/document_keys.h"
#include "text/escape.h"
#include "text/numbers.h"
#include "text/text_table.h"

namespace doctor {
namespace {

constexpr std::size_t kBufferNameWidth = 60;

OrderedJson buffer_json(const BufferGroup& group, const ElementBuffer& buffer) {
  const IteratorMeasurement& iterator = group.host.iterators[buffer.iterator];
  const std::optional<bool> autotuned = is_autotuned(iterator);
  return {{key::long_name, iterator.long_name},
          {key::short_name, iterator.short_name},
          {key::stage, describe(group.host, buffer.iterator)},
          {key::given, autotuned ? OrderedJson(*autotuned ? "autotune" : "fixed") : OrderedJson(nullptr)},
          {key::limit, or_null(buffer.limit)},
          {key::elements, or_null(buffer.elements)},
          {key::element_bytes, or_null(buffer.element_bytes)},
          {key::buffered_mb, or_null(buffer.megabytes)},
          {key::bytes, or_null(buffer.bytes)},
          {key::full_bytes, or_null(buffer.full_bytes)},
          {key::elements_per_step, or_null(group.elements_per_step(buffer))},
          {key::steps_until_full, or_null(group.steps_until_full(buffer))},
          {key::full_at_step, or_null(group.full_at_step(buffer))},
          {key::budget_share, or_null(group.budget_share(buffer.bytes))}};
}

std::string or_unknown(std::optional<std::uint64_t> number, std::string (*words)(std::uint64_t)) {
  return number ? words(*number) : "unknown";
}

std::string held_words(const ElementBuffer& buffer) {
  if (buffer.bytes) return format_bytes(*buffer.bytes);
  if (!buffer.megabytes) return "unknown";
  return *buffer.megabytes == 0 ? "less than 1 MB" : fmt::format("at least {} MB", *buffer.megabytes);
}

/// "410 steps, step 462"; empty where the buffer does not fill.
std::string until_full_words(const BufferGroup& group, const ElementBuffer& buffer) {
  const std::optional<double> steps = group.steps_until_full(buffer);
  if (!steps) return "";
  const std::optional<std::int64_t> step = group.full_at_step(buffer);
  return format_count(static_cast<std::uint64_t>(*steps), "step") +
         (step ? ", step " + format_count(static_cast<std::uint64_t>(*step)) : "");
}

/// As the samples of the memory count it, else the markers.
std::optional<std::int64_t> last_step_of(const HostMeasurement& host) {
  if (!host.memory.samples.empty()) return static_cast<std::int64_t>(host.memory.samples.back().step);
  if (!host.profile) return std::nullopt;
  const StepTable table = measure_steps(host);
  return table.source == StepSource::markers && !table.steps.empty() ? table.steps.back().number : std::nullopt;
}

std::string buffers_table(const BufferGroup& group, PageWidth width) {
  const bool is_one_filling = std::any_of(group.buffers.begin(), group.buffers.end(), [&](const ElementBuffer& buffer) {
    return group.steps_until_full(buffer).has_value();
  });
  std::vector<TextRow> rows;
  for (const ElementBuffer& buffer : group.buffers) {
    const IteratorMeasurement& iterator = group.host.iterators[buffer.iterator];
    const std::optional<double> share = group.budget_share(buffer.bytes);
    const bool has_limit = !has_trait(iterator, Trait::cache);
    rows.push_back({clip(escape_for_terminal(describe(group.host, buffer.iterator)), kBufferNameWidth),
                    has_limit ? or_unknown(buffer.limit, format_count) : "none",
                    or_unknown(buffer.elements, format_count), or_unknown(buffer.element_bytes, format_bytes),
                    held_words(buffer), has_limit ? or_unknown(buffer.full_bytes, format_bytes) : "",
                    share ? format_share(*share) : "unknown"});
    if (is_one_filling) rows.back().push_back(until_full_words(group, buffer));
  }
  std::vector<TextColumn> columns = {{"buffer", Align::left, Fit::shorten},
                                     {"limit", Align::right},
                                     {"elements", Align::right},
                                     {"each", Align::right, Fit::keep, 1},
                                     {"held", Align::right},
                                     {"when full", Align::right, Fit::keep, 2},
                                     {"of the RAM budget", Align::right, Fit::keep, 3}};
  if (is_one_filling) columns.push_back({"full in", Align::right, Fit::keep, 4});
  return text_table(columns, rows, width);
}

}  // namespace

std::optional<double> BufferGroup::budget_share(std::optional<std::uint64_t> bytes) const {
  constexpr double kBytesPerMegabyteOfBudget = 1e6;
  if (!bytes || budget.ram_budget_mb.value_or(0) <= 0) return std::nullopt;
  return static_cast<double>(*bytes) / (static_cast<double>(*budget.ram_budget_mb) * kBytesPerMegabyteOfBudget);
}

std::optional<double> BufferGroup::elements_per_step(const ElementBuffer& buffer) const {
  constexpr std::int64_t kLeastMoreElements = 3;  // a buffer goes up and down by some
  constexpr double kStillMost = 0.9;
  if (pipeline == nullptr || pipeline->calls.empty()) return std::nullopt;
  for (const AttributeHistory& history : host.iterators[buffer.iterator].history.attributes) {
    if (history.name != "buffered_elements" || !history.first.number || !history.last.number) continue;
    const std::int64_t gain = *history.last.number - *history.first.number;
    const bool is_still_most =
        static_cast<double>(*history.last.number) >= kStillMost * static_cast<double>(history.max);
    if (gain < kLeastMoreElements || !is_still_most) return std::nullopt;
    return static_cast<double>(gain) / static_cast<double>(pipeline->calls.size());
  }
  return std::nullopt;
}

std::optional<double> BufferGroup::steps_until_full(const ElementBuffer& buffer) const {
  const std::optional<double> rate = elements_per_step(buffer);
  if (!rate || !buffer.limit || !buffer.elements || *buffer.limit <= *buffer.elements) return std::nullopt;
  return static_cast<double>(*buffer.limit - *buffer.elements) / *rate;
}

std::optional<std::int64_t> BufferGroup::full_at_step(const ElementBuffer& buffer) const {
  const std::optional<double> steps = steps_until_full(buffer);
  if (!steps || !last_step) return std::nullopt;
  return *last_step + static_cast<std::int64_t>(std::ceil(*steps));
}

std::vector<BufferGroup> element_buffer_groups(const Measurements& measurements, const Diagnosis& diagnosis) {
  std::vector<BufferGroup> groups;
  for (IteratorGroup& iterators : iterator_groups(measurements, diagnosis.judgement)) {
    BufferGroup group{std::move(iterators), {}, {}, {}};
    group.last_step = last_step_of(group.host);
    group.budget = autotune_budget(group.host, group.members, group.pipeline, diagnosis.thresholds);
    group.buffers = element_buffers(group.host, group.members);
    groups.push_back(std::move(group));
  }
  return groups;
}

std::string buffers_text(const BufferGroup& group, PageWidth width) {
  const std::string host = clip(escape_for_terminal(host_name(group.host)), kBufferNameWidth);
  const std::string title =
      group.pipeline != nullptr
          ? fmt::format("tf.data's buffers in pipeline {} on {}\n", group.id, host)
          : fmt::format("tf.data's buffers on {}, in iterators for which no call of a consumer was seen\n", host);
  std::string budget = ram_line(group.budget);
  if (!group.budget.ram_budget_mb) budget += "the trace does not say how much memory tf.data may use\n";
  return fitted_lines(title, width, 2) +
         (group.buffers.empty() ? "no iterator with a buffer was seen\n" : buffers_table(group, width)) +
         fitted_lines(budget, width, 5);
}

OrderedJson buffers_json(const BufferGroup& group) {
  const bool has_root = group.pipeline != nullptr && group.pipeline->root != kNoIterator;
  OrderedJson buffers = OrderedJson::array();
  for (const ElementBuffer& buffer : group.buffers) buffers.push_back(buffer_json(group, buffer));
  OrderedJson json = {
      {key::id, text_or_null(group.id)},
      {key::host, host_name(group.host)},
      {key::root, has_root ? OrderedJson(group.host.iterators[group.pipeline->root].long_name) : OrderedJson(nullptr)},
      {key::ram_budget_mb, or_null(group.budget.ram_budget_mb)},
      {key::buffered_mb, or_null(group.budget.buffered_mb)},
      {key::machine_ram_used_mb, or_null(group.budget.machine_used_mb)},
      {key::machine_ram_mb, or_null(group.budget.machine_ram_mb)}};
  json[key::buffers] = std::move(buffers);
  return json;
}

}  // namespace doctor
