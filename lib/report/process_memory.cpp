#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "diagnose/growing_buffer.h"
#include "diagnose/user_code.h"
#include "measure/memory_growth.h"
#include "report/memory_parts.h"
#include "report/selection.h"
#include "text/document_keys.h"
#include "text/escape.h"
#include "text/growth_words.h"
#include "text/numbers.h"
#include "text/text_page.h"

namespace doctor {
namespace {

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
          {key::buffer, view.buffer ? OrderedJson(view.host.iterators[view.buffer->buffer.iterator].long_name)
                                    : OrderedJson(nullptr)}};
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

std::string process_memory_text(const HostMeasurement& host, PageWidth width) {
  const std::string& fault = host.memory.fault;
  if (!fault.empty()) return fitted_lines(escape_for_terminal(host.memory.path) + " " + fault + "\n", width, 2);
  if (host.memory.samples.empty()) return {};
  const ProcessView view = view_of(host);
  const std::string title = fmt::format("memory of the process on {}, {}\n", escape_for_terminal(host_name(host)),
                                        format_count(view.samples().size(), "sample"));
  TextPage page(false, width);
  page.row("process",
           fmt::format("{} at the begin, {} at the end, {} at most", format_bytes(view.samples().front().rss_bytes),
                       format_bytes(view.last().rss_bytes), format_bytes(view.most_bytes())));
  page.row("buffers", fmt::format("{} of it in tf.data's buffers; {} in all when those with a limit are full",
                                  format_bytes(buffered_bytes(host)), format_bytes(view.when_full())));
  page.row("machine", fmt::format("{} left of {}", format_bytes(view.last().available_bytes),
                                  format_bytes(view.last().total_bytes)));
  page.row("grows by", growth_part(view));
  if (view.growth && view.growth->is_steady) page.row("with", holder_words(view));
  if (const std::optional<double> cores = mean_other_cores(view.samples())) {
    page.row("others", fmt::format("{:.1f} cores busy with other programs on average", *cores));
  }
  if (host.memory.unusable > 0) {
    page.row("unused", fmt::format("{} of {} are no samples", format_count(host.memory.unusable, "line"),
                                   escape_for_terminal(host.memory.path)));
  }
  return fitted_lines(title, width, 2) + page.take();
}

OrderedJson process_memory_json(const HostMeasurement& host) {
  if (host.memory.samples.empty()) return nullptr;
  const ProcessView view = view_of(host);
  OrderedJson json = {{key::host, host_name(host)},
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
                      {key::growth, growth_json(view)}};
  json[key::over_time] = over_time_json(view);
  return json;
}

}  // namespace doctor
