#include "report/buffer_groups.h"

#include <fmt/format.h>

#include <utility>

#include "diagnose/dataset_words.h"
#include "diagnose/user_code.h"
#include "report/autotune_page.h"
#include "text/escape.h"
#include "text/numbers.h"
#include "text/text_table.h"

namespace doctor {
namespace {

constexpr std::size_t kBufferNameWidth = 60;

OrderedJson buffer_json(const BufferGroup& group, const ElementBuffer& buffer) {
  const IteratorMeasurement& iterator = group.host.iterators[index_of(buffer.iterator)];
  const std::optional<bool> autotuned = is_autotuned(iterator);
  return {{"long_name", iterator.long_name},
          {"short_name", iterator.short_name},
          {"stage", describe(group.host, buffer.iterator)},
          {"given", autotuned ? OrderedJson(*autotuned ? "autotune" : "fixed") : OrderedJson(nullptr)},
          {"limit", or_null(buffer.limit)},
          {"elements", or_null(buffer.elements)},
          {"element_bytes", or_null(buffer.element_bytes)},
          {"buffered_mb", or_null(buffer.megabytes)},
          {"bytes", or_null(buffer.bytes)},
          {"full_bytes", or_null(buffer.full_bytes)},
          {"budget_share", or_null(group.budget_share(buffer.bytes))}};
}

std::string or_unknown(std::optional<std::uint64_t> number, std::string (*words)(std::uint64_t)) {
  return number ? words(*number) : "unknown";
}

std::string held_words(const ElementBuffer& buffer) {
  if (buffer.bytes) return format_bytes(*buffer.bytes);
  if (!buffer.megabytes) return "unknown";
  return *buffer.megabytes == 0 ? "less than 1 MB" : fmt::format("at least {} MB", *buffer.megabytes);
}

std::string buffers_table(const BufferGroup& group, PageWidth width) {
  std::vector<TextRow> rows;
  for (const ElementBuffer& buffer : group.buffers) {
    const IteratorMeasurement& iterator = group.host.iterators[index_of(buffer.iterator)];
    const std::optional<double> share = group.budget_share(buffer.bytes);
    const bool has_limit = !has_trait(iterator, Trait::cache);
    rows.push_back({clip(escape_for_terminal(describe(group.host, buffer.iterator)), kBufferNameWidth),
                    has_limit ? or_unknown(buffer.limit, format_count) : "none",
                    or_unknown(buffer.elements, format_count), or_unknown(buffer.element_bytes, format_bytes),
                    held_words(buffer), has_limit ? or_unknown(buffer.full_bytes, format_bytes) : "",
                    share ? format_share(*share) : "unknown"});
  }
  return text_table({{"buffer", Align::left, Fit::shorten},
                     {"limit", Align::right},
                     {"elements", Align::right},
                     {"each", Align::right, Fit::keep, 1},
                     {"held", Align::right},
                     {"when full", Align::right, Fit::keep, 2},
                     {"of the RAM budget", Align::right, Fit::keep, 3}},
                    rows, width);
}

}  // namespace

std::optional<double> BufferGroup::budget_share(std::optional<std::uint64_t> bytes) const {
  constexpr double kBytesPerMegabyteOfBudget = 1e6;
  if (!bytes || budget.ram_budget_mb.value_or(0) <= 0) return std::nullopt;
  return static_cast<double>(*bytes) / (static_cast<double>(*budget.ram_budget_mb) * kBytesPerMegabyteOfBudget);
}

std::vector<BufferGroup> element_buffer_groups(const Measurements& measurements, const Diagnosis& diagnosis) {
  std::vector<BufferGroup> groups;
  for (IteratorGroup& iterators : iterator_groups(measurements, diagnosis.judgement)) {
    BufferGroup group{std::move(iterators), {}, {}};
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
  OrderedJson json = {{"id", text_or_null(group.id)},
                      {"host", host_name(group.host)},
                      {"root", has_root ? OrderedJson(group.host.iterators[index_of(group.pipeline->root)].long_name)
                                        : OrderedJson(nullptr)},
                      {"ram_budget_mb", or_null(group.budget.ram_budget_mb)},
                      {"buffered_mb", or_null(group.budget.buffered_mb)},
                      {"machine_ram_used_mb", or_null(group.budget.machine_used_mb)},
                      {"machine_ram_mb", or_null(group.budget.machine_ram_mb)}};
  json["buffers"] = std::move(buffers);
  return json;
}

}  // namespace doctor
