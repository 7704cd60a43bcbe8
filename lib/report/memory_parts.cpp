#include <cmath>

#include "diagnose/element_buffers.h"
#include "diagnose/user_code.h"
#include "measure/memory_growth.h"
#include "report/json_values.h"
#include "report/page.h"

namespace doctor {
namespace {

/// The buffers of some iterators.
struct BufferGroup : IteratorGroup {
  AutotuneBudget budget;
  std::vector<ElementBuffer> buffers;
  std::optional<std::int64_t> last_step;  ///< the number of the last one that was recorded, where steps have numbers

  /// So many bytes as a share of the RAM budget; nullopt where either is not known.
  std::optional<double> budget_share(std::optional<std::uint64_t> bytes) const {
    constexpr double kBytesPerMegabyteOfBudget = 1e6;
    if (!bytes || budget.ram_budget_mb.value_or(0) <= 0) return std::nullopt;
    return static_cast<double>(*bytes) / (static_cast<double>(*budget.ram_budget_mb) * kBytesPerMegabyteOfBudget);
  }
  /// How many more elements are in it after each step, over the window; nullopt where they do not become more, or the
  /// trace does not show it.
  std::optional<double> elements_per_step(const ElementBuffer& buffer) const;
  /// Steps until it is full at this rate; nullopt where it has no limit, too.
  std::optional<double> steps_until_full(const ElementBuffer& buffer) const {
    const std::optional<double> rate = elements_per_step(buffer);
    if (!rate || !buffer.limit || !buffer.elements || *buffer.limit <= *buffer.elements) return std::nullopt;
    return static_cast<double>(*buffer.limit - *buffer.elements) / *rate;
  }
  /// The number of the step in which it is; nullopt where steps have no numbers, too.
  std::optional<std::int64_t> full_at_step(const ElementBuffer& buffer) const {
    const std::optional<double> steps = steps_until_full(buffer);
    if (!steps || !last_step) return std::nullopt;
    return *last_step + static_cast<std::int64_t>(std::ceil(*steps));
  }
};

/// As the samples of the memory count it, else the markers.
std::optional<std::int64_t> last_step_of(const HostMeasurement& host) {
  if (!host.memory.samples.empty()) return static_cast<std::int64_t>(host.memory.samples.back().step);
  if (!host.profile) return std::nullopt;
  const StepTable table = measure_steps(host);
  return table.source == StepSource::markers && !table.steps.empty() ? table.steps.back().number : std::nullopt;
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

/// In the order of iterator_groups().
std::vector<BufferGroup> element_buffer_groups(const PageInput& input) {
  std::vector<BufferGroup> groups;
  for (IteratorGroup& iterators : iterator_groups(input.measurements, input.diagnosis.judgement)) {
    BufferGroup group{std::move(iterators), {}, {}, {}};
    group.last_step = last_step_of(group.host);
    group.budget = autotune_budget(group.host, group.members, group.pipeline, input.diagnosis.thresholds);
    group.buffers = element_buffers(group.host, group.members);
    groups.push_back(std::move(group));
  }
  return groups;
}

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

std::string buffers_table(const BufferGroup& group, PageWidth width) {
  const bool is_one_filling = std::ranges::any_of(
      group.buffers, [&](const ElementBuffer& buffer) { return group.steps_until_full(buffer).has_value(); });
  std::vector<TextRow> rows;
  for (const ElementBuffer& buffer : group.buffers) {
    const IteratorMeasurement& iterator = group.host.iterators[buffer.iterator];
    const std::optional<double> share = group.budget_share(buffer.bytes);
    const bool has_limit = !iterator.has(Trait::cache);
    rows.push_back(
        {clipped(describe(group.host, buffer.iterator)), has_limit ? or_unknown(buffer.limit, format_count) : "none",
         or_unknown(buffer.elements, format_count), or_unknown(buffer.element_bytes, format_bytes), held_words(buffer),
         has_limit ? or_unknown(buffer.full_bytes, format_bytes) : "", share ? format_share(*share) : "unknown"});
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

std::string group_text(const BufferGroup& group, PageWidth width) {
  const std::string host = clipped(group.host.name());
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

OrderedJson buffer_group_json(const BufferGroup& group) {
  return {
      {key::id, text_or_null(group.id)},
      {key::host, group.host.name()},
      {key::root, long_name_json(group.host, group.root())},
      {key::ram_budget_mb, or_null(group.budget.ram_budget_mb)},
      {key::buffered_mb, or_null(group.budget.buffered_mb)},
      {key::machine_ram_used_mb, or_null(group.budget.machine_used_mb)},
      {key::machine_ram_mb, or_null(group.budget.machine_ram_mb)},
      {key::buffers, array_of(group.buffers, [&](const ElementBuffer& buffer) { return buffer_json(group, buffer); })}};
}

constexpr std::size_t kMostPoints = 200;  // of the timeline
constexpr double kNanosecondsPerSecond = 1e9;

/// What the samples of a host say.
struct ProcessView {
  const HostMeasurement& host;
  std::optional<MemoryGrowth> growth;
  std::optional<double> steps_left;
  std::optional<GrowingBuffer> buffer;  ///< only where it grows

  const std::vector<MemorySample>& samples() const { return host.memory.samples; }
  const MemorySample& last() const { return samples().back(); }
  double seconds_at(const MemorySample& sample) const {
    return static_cast<double>(sample.time_ns - samples().front().time_ns) / kNanosecondsPerSecond;
  }
  std::uint64_t most_bytes() const {
    std::uint64_t most = 0;
    for (const MemorySample& sample : samples()) most = std::max(most, sample.rss_bytes);
    return most;
  }
  std::uint64_t when_full() const { return last().rss_bytes + bytes_to_come(host); }
};

ProcessView view_of(const HostMeasurement& host) {
  ProcessView view{host, memory_growth(host.memory.samples, host.step_markers), std::nullopt, std::nullopt};
  if (view.growth && view.growth->is_steady) {
    view.steps_left = steps_left(host.memory.samples, *view.growth);
    view.buffer = growing_buffer(host, *view.growth);
  }
  return view;
}

std::optional<double> mean_other_cores(const std::vector<MemorySample>& samples) {
  double sum = 0;
  std::size_t count = 0;
  for (const MemorySample& sample : samples) {
    if (!sample.other_cores) continue;
    sum += *sample.other_cores;
    ++count;
  }
  return count > 0 ? std::optional(sum / static_cast<double>(count)) : std::nullopt;
}

std::string growth_part(const ProcessView& view) {
  if (!view.growth) return "not known: there are too few samples while steps ran; record more steps";
  const MemoryGrowth& growth = *view.growth;
  if (!growth.is_steady) {
    return fmt::format("not steadily, from step {} to {}", format_count(growth.first_step),
                       format_count(growth.last_step));
  }
  return growth_words(
      {growth.first_step, growth.last_step, growth.bytes_per_step, view.last().available_bytes, view.steps_left});
}

std::string holder_words(const ProcessView& view) {
  if (!view.buffer) return "no buffer of tf.data holds as much: explain memory-grows";
  const ElementBuffer& buffer = view.buffer->buffer;
  const std::string name = describe(view.host, buffer.iterator);
  if (view.buffer->is_filling_cache) return name + ", until its input ends";
  return buffer.full_bytes ? fmt::format("{}, until it is full with {}", name, format_bytes(*buffer.full_bytes)) : name;
}

OrderedJson growth_json(const ProcessView& view) {
  if (!view.growth) return nullptr;
  return {{key::first_step, view.growth->first_step},
          {key::last_step, view.growth->last_step},
          {key::bytes_per_step, view.growth->bytes_per_step},
          {key::is_steady, view.growth->is_steady},
          {key::steps_left, or_null(view.steps_left)},
          {key::buffer, long_name_json(view.host, view.buffer ? view.buffer->buffer.iterator : kNoIterator)}};
}

OrderedJson over_time_json(const ProcessView& view) {
  OrderedJson timeline = OrderedJson::array();
  const std::size_t every = (view.samples().size() + kMostPoints - 1) / kMostPoints;
  for (std::size_t index = 0; index < view.samples().size(); index += every) {
    const MemorySample& sample = view.samples()[index];
    timeline.push_back({{key::time_s, view.seconds_at(sample)},
                        {key::step, sample.step},
                        {key::rss_bytes, sample.rss_bytes},
                        {key::available_bytes, sample.available_bytes},
                        {key::other_cores, or_null(sample.other_cores)}});
  }
  return timeline;
}

}  // namespace

std::string buffers_text(const PageInput& input) {
  return joined(element_buffer_groups(input), "",
                [&](const BufferGroup& group) { return "\n" + group_text(group, input.options.style.width); });
}

OrderedJson buffers_json(const PageInput& input) {
  return array_of(element_buffer_groups(input), buffer_group_json);
}

void add_buffer_rows(const PageInput& input, DataTable& table) {
  const auto number = [](std::optional<std::uint64_t> value) { return value ? count_cell(*value) : Cell(); };
  for (const BufferGroup& group : element_buffer_groups(input)) {
    for (const ElementBuffer& buffer : group.buffers) {
      table.rows.push_back({group.host.name(), "tf.data " + group.id, group.host.iterators[buffer.iterator].long_name,
                            Cell(), Cell(), Cell(), number(buffer.elements), number(buffer.element_bytes),
                            number(buffer.bytes), cell_or_unknown(group.budget_share(buffer.bytes))});
    }
  }
}

std::string process_memory_text(const HostMeasurement& host, PageWidth width) {
  const std::string& fault = host.memory.fault;
  if (!fault.empty()) return fitted_lines(escape_for_terminal(host.memory.path) + " " + fault + "\n", width, 2);
  if (host.memory.samples.empty()) return {};
  const ProcessView view = view_of(host);
  const std::string title = fmt::format("memory of the process on {}, {}\n", escape_for_terminal(host.name()),
                                        format_count(view.samples().size(), "sample"));
  TextPage page(false, width);
  page.row("Process",
           fmt::format("{} at the begin, {} at the end, {} at most", format_bytes(view.samples().front().rss_bytes),
                       format_bytes(view.last().rss_bytes), format_bytes(view.most_bytes())));
  page.row("Buffers", fmt::format("{} of it in tf.data's buffers; {} in all when those with a limit are full",
                                  format_bytes(buffered_bytes(host)), format_bytes(view.when_full())));
  page.row("Machine", fmt::format("{} left of {}", format_bytes(view.last().available_bytes),
                                  format_bytes(view.last().total_bytes)));
  page.row("Grows by", growth_part(view));
  if (view.growth && view.growth->is_steady) page.row("With", holder_words(view));
  if (const std::optional<double> cores = mean_other_cores(view.samples())) {
    page.row("Others", fmt::format("{:.1f} cores busy with other programs on average", *cores));
  }
  if (host.memory.unusable > 0) {
    page.row("Unused", fmt::format("{} of {} are no samples", format_count(host.memory.unusable, "line"),
                                   escape_for_terminal(host.memory.path)));
  }
  return fitted_lines(title, width, 2) + page.take();
}

OrderedJson process_memory_json(const HostMeasurement& host) {
  if (host.memory.samples.empty()) return nullptr;
  const ProcessView view = view_of(host);
  return {{key::host, host.name()},
          {key::samples, view.samples().size()},
          {key::unusable_lines, host.memory.unusable},
          {key::first_rss_bytes, view.samples().front().rss_bytes},
          {key::last_rss_bytes, view.last().rss_bytes},
          {key::most_rss_bytes, view.most_bytes()},
          {key::last_step, view.last().step},
          {key::buffers_bytes, buffered_bytes(host)},
          {key::when_full_bytes, view.when_full()},
          {key::available_bytes, view.last().available_bytes},
          {key::total_bytes, view.last().total_bytes},
          {key::other_cores, or_null(mean_other_cores(view.samples()))},
          {key::growth, growth_json(view)},
          {key::over_time, over_time_json(view)}};
}

}  // namespace doctor
