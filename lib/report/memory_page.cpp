#include "report/json_values.h"
#include "report/page.h"

namespace doctor {
namespace {

/// An allocator with the host that it serves.
struct AllocatorView {
  const HostMeasurement& host;
  const AllocatorProfile& allocator;
  std::optional<std::int64_t> peak_step;  ///< the number of the step that the peak is in

  const MemoryPeak& peak() const { return allocator.peak; }
  double share_of_peak(std::uint64_t bytes) const {
    return peak().bytes == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(peak().bytes);
  }
  Picoseconds since_start(Picoseconds time) const { return time - host.window_start; }
};

std::optional<std::int64_t> step_at(const StepTable& table, Picoseconds time) {
  for (const StepMeasurement& step : table.steps) {
    if (step.span.start <= time && time < step.span.end) return step.number;
  }
  return std::nullopt;
}

std::vector<AllocatorView> allocators_of(const Measurements& measurements) {
  std::vector<AllocatorView> views;
  for (const HostMeasurement& host : measurements.hosts) {
    if (!host.profile || host.profile->memory.allocators.empty()) continue;
    const StepTable steps = measure_steps(host);
    for (const AllocatorProfile& allocator : host.profile->memory.allocators) {
      views.push_back({host, allocator, step_at(steps, allocator.peak.time)});
    }
  }
  return views;
}

std::uint64_t incomplete_events(const Measurements& measurements) {
  std::uint64_t sum = 0;
  for (const HostMeasurement& host : measurements.hosts) {
    if (host.profile) sum += host.profile->memory.incomplete_events;
  }
  return sum;
}

/// Why there is no allocator, and what to do about it; empty if there is one.
std::string_view why_no_allocator(const Measurements& measurements) {
  bool has_xspace = false;
  for (const HostMeasurement& host : measurements.hosts) {
    if (host.profile && !host.profile->memory.allocators.empty()) return {};
    for (const TraceFile& file : host.files) has_xspace = has_xspace || file.format == "xspace";
  }
  return has_xspace ? "the trace has no allocation in it: TensorFlow records what its allocators of GPU memory do, and "
                      "with oneDNN those of the CPU, libtpu those of a TPU, if host_tracer_level is 2 (the default) or "
                      "more"
                    : "traces in JSON have no allocation in them, TensorFlow leaves them out: show the .xplane.pb of "
                      "the same run, which lies beside the .trace.json.gz";
}

std::span<const AllocationGroup> largest_held(const AllocatorProfile& allocator, std::optional<std::size_t> top) {
  return std::span(allocator.at_peak).first(std::min(top.value_or(SIZE_MAX), allocator.at_peak.size()));
}

/// What is held at the peak, the largest first.
DataTable table_of_held(const AllocatorView& view, std::optional<std::size_t> top) {
  using enum ColumnKind;
  const auto words = [](std::string AllocationGroup::*part) {
    return [part](const AllocationGroup& group) { return text_cell(group.*part); };
  };
  const auto whole = [](std::uint64_t AllocationGroup::*part) {
    return [part](const AllocationGroup& group) { return count_cell(group.*part); };
  };
  const std::vector<Field<AllocationGroup>> fields = {
      {{.key = key::op_name, .title = "held at the peak", .unknown = ""}, words(&AllocationGroup::op_name)},
      {{.key = key::region_type, .title = "region", .spare = 3, .unknown = "", .fit = Fit::keep},
       words(&AllocationGroup::region_type)},
      {{.key = key::data_type, .title = "type", .spare = 2, .unknown = "", .fit = Fit::keep},
       words(&AllocationGroup::data_type)},
      {{.key = key::shape, .title = "shape", .spare = 1, .unknown = ""}, words(&AllocationGroup::shape)},
      {{.key = key::count, .title = "times", .kind = count}, whole(&AllocationGroup::count)},
      {{.key = key::requested_bytes, .title = {}, .kind = hidden}, whole(&AllocationGroup::requested_bytes)},
      {{.key = key::allocation_bytes, .title = "each", .kind = bytes, .spare = 4},
       whole(&AllocationGroup::allocation_bytes)},
      {{.key = key::bytes, .title = "bytes", .kind = bytes},
       [](const auto& group) { return count_cell(group.total_bytes()); }},
      {{.key = key::share, .title = "of the peak", .kind = share},
       [&](const auto& group) { return view.share_of_peak(group.total_bytes()); }}};
  return table_of(fields, largest_held(view.allocator, top));
}

OrderedJson peak_json(const AllocatorView& view, std::optional<std::size_t> top) {
  const MemoryPeak& peak = view.peak();
  const std::uint64_t least = view.allocator.least_followed_bytes;
  return {{key::bytes, peak.bytes},
          {key::time_us, to_microseconds(view.since_start(peak.time))},
          {key::first_time_us, to_microseconds(view.since_start(peak.first_time))},
          {key::count, peak.count},
          {key::step, or_null(view.peak_step)},
          {key::fragmentation, peak.fragmentation},
          {key::free_bytes, peak.free_bytes},
          {key::reserved_bytes, peak.reserved_bytes},
          {key::unseen_bytes, view.allocator.unseen_bytes},
          {key::least_followed_bytes, known_or_null(least > 0, least)},
          {key::allocation_kinds, view.allocator.at_peak.size()},
          {key::allocations, table_json(table_of_held(view, top))}};
}

OrderedJson allocator_json(const AllocatorView& view, std::optional<std::size_t> top) {
  const AllocatorProfile& allocator = view.allocator;
  return {{key::host, view.host.name()},
          {key::allocator, allocator.name},
          {key::window_start_us, to_microseconds(view.host.window_start)},
          {key::capacity_bytes, view.peak().capacity()},
          {key::lifetime_peak_bytes, allocator.lifetime_peak_bytes},
          {key::allocation_count, allocator.allocation_count},
          {key::deallocation_count, allocator.deallocation_count},
          {key::mean_fragmentation, allocator.mean_fragmentation},
          {key::max_fragmentation, allocator.max_fragmentation},
          {key::peak, peak_json(view, top)},
          {key::timeline, array_of(allocator.timeline, [&](const MemorySpan& span) -> OrderedJson {
             return {{key::start_us, to_microseconds(view.since_start(span.start))},
                     {key::end_us, to_microseconds(view.since_start(span.end))},
                     {key::most_bytes, span.most_bytes},
                     {key::last_bytes, span.last_bytes}};
           })}};
}

constexpr std::size_t kChartHeight = 4;
constexpr std::size_t kUsualWidth = 80;

/// The most memory in use in each of `columns` equal parts of the time from the first change to the last.
std::vector<double> most_in_columns(const std::vector<MemorySpan>& timeline, std::size_t columns) {
  std::vector<double> most(columns, 0);
  const Picoseconds start = timeline.front().start;
  const double length = static_cast<double>(std::max<Picoseconds>(timeline.back().end - start, 1));
  const auto column_of = [&](Picoseconds time) {
    const double part = static_cast<double>(time - start) / length;
    return std::min(static_cast<std::size_t>(part * static_cast<double>(columns)), columns - 1);
  };
  const auto raise = [&](Picoseconds from, Picoseconds to, std::uint64_t bytes) {
    for (std::size_t column = column_of(from); column <= column_of(to); ++column) {
      most[column] = std::max(most[column], static_cast<double>(bytes));
    }
  };
  for (std::size_t index = 0; index < timeline.size(); ++index) {
    const MemorySpan& span = timeline[index];
    raise(span.start, span.end, span.most_bytes);
    if (index + 1 < timeline.size()) raise(span.end, timeline[index + 1].start, span.last_bytes);
  }
  return most;
}

std::string timeline_chart(const AllocatorView& view, PageWidth width) {
  const std::vector<MemorySpan>& timeline = view.allocator.timeline;
  const std::string top = format_bytes(view.peak().bytes);
  const std::size_t label = std::max<std::size_t>(top.size(), 2);
  const std::size_t beside = label + 5;
  const std::size_t columns =
      std::max<std::size_t>(std::min(width.value_or(kUsualWidth), kUsualWidth), beside + 20) - beside;
  const std::vector<std::string> lines = area_chart(most_in_columns(timeline, columns), kChartHeight);
  std::string text;
  for (std::size_t line = 0; line < lines.size(); ++line) {
    text += fmt::format("  {:>{}} |{}|\n", line == 0 ? top : line + 1 == lines.size() ? "0" : "", label, lines[line]);
  }
  const std::string from = format_time(view.since_start(timeline.front().start));
  const std::string to = format_time(view.since_start(timeline.back().end));
  const std::size_t between = columns - std::min(columns, from.size() + to.size());
  return text + fmt::format("  {:>{}}  {}{:{}}{}\n", "", label, from, "", between, to);
}

std::string when_words(const AllocatorView& view) {
  const MemoryPeak& peak = view.peak();
  std::string words = format_time(view.since_start(peak.time));
  words += view.peak_step ? fmt::format(" after the start, in step {}", *view.peak_step) : " after the start";
  if (peak.count > 1) {
    words += fmt::format("; reached {} times, first after {}", format_count(peak.count),
                         format_time(view.since_start(peak.first_time)));
  }
  return words;
}

std::string fragmentation_words(const AllocatorProfile& allocator) {
  return fmt::format("fragmentation {} at the peak, {} on average, {} at most",
                     format_share(allocator.peak.fragmentation), format_share(allocator.mean_fragmentation),
                     format_share(allocator.max_fragmentation));
}

/// What is in use at the peak and in no row: reserved memory, and what nobody was seen to allocate.
std::string rest_words(const AllocatorView& view) {
  const AllocatorProfile& allocator = view.allocator;
  std::string words;
  if (view.peak().reserved_bytes > 0) {
    words += fmt::format("{} ({}) reserved; ", format_bytes(view.peak().reserved_bytes),
                         format_share(view.share_of_peak(view.peak().reserved_bytes)));
  }
  words += allocator.unseen_bytes == 0 ? "all in use was allocated in the window"
                                       : fmt::format("{} ({}) in use from before the window, like variables",
                                                     format_bytes(allocator.unseen_bytes),
                                                     format_share(view.share_of_peak(allocator.unseen_bytes)));
  if (allocator.least_followed_bytes > 0) {
    words += fmt::format(", or in pieces of less than {}: the trace has too many to follow them all",
                         format_bytes(allocator.least_followed_bytes));
  }
  return words;
}

std::string held_text(const AllocatorView& view, std::optional<std::size_t> top, PageWidth width) {
  const DataTable table = table_of_held(view, top);
  const std::size_t kinds = view.allocator.at_peak.size();
  if (table.rows.empty() || table.rows.size() == kinds) return table.rows.empty() ? "" : table_text(table, width);
  return table_text(table, width) +
         fmt::format("{} of {} rows; --top 0 shows all\n", format_count(table.rows.size()), format_count(kinds));
}

std::string allocator_text(const AllocatorView& view, std::optional<std::size_t> top, PageWidth width) {
  const AllocatorProfile& allocator = view.allocator;
  TextPage page(false, width);
  const bool knows_capacity = view.peak().free_bytes > 0;
  page.row("Peak", knows_capacity
                       ? fmt::format("{} of {}", format_bytes(view.peak().bytes), format_bytes(view.peak().capacity()))
                       : format_bytes(view.peak().bytes));
  page.row("When", when_words(view));
  page.row("Lifetime", fmt::format("{} at most since the job began", format_bytes(allocator.lifetime_peak_bytes)));
  page.row("Free", fragmentation_words(allocator));
  page.row("Changes", fmt::format("{}, {}", format_count(allocator.allocation_count, "allocation"),
                                  format_count(allocator.deallocation_count, "deallocation")));
  page.row("At peak", rest_words(view));
  const std::string title =
      fmt::format("allocator {} on {}\n", escape_for_terminal(allocator.name), clipped(view.host.name()));
  return fitted_lines(title, width, 2) + page.take() + timeline_chart(view, width) + held_text(view, top, width);
}

/// What the allocators of the devices gave, what was held at the peak, and the elements that tf.data keeps in its
/// buffers.
Result<std::string> memory_text(const PageInput& input) {
  const PageWidth width = input.options.style.width;
  std::string text = joined(allocators_of(input.measurements), "\n", [&](const AllocatorView& view) {
    return allocator_text(view, input.options.most_rows(), width);
  });
  if (const std::string_view why = why_no_allocator(input.measurements); !why.empty()) {
    text = fitted_lines(fmt::format("devices: {}\n", why), width, 9);
  }
  if (const std::uint64_t count = incomplete_events(input.measurements); count > 0) {
    text += fitted_lines(fmt::format("{} of allocators could not be read\n", format_count(count, "event")), width, 2);
  }
  for (const HostMeasurement& host : input.measurements.hosts) {
    if (const std::string process = process_memory_text(host, width); !process.empty()) text += "\n" + process;
  }
  const std::string buffers = buffers_text(input);
  return text + (buffers.empty() ? "\nno tf.data iterator in this trace\n" : buffers);
}

/// With the timelines.
Result<OrderedJson> memory_document(const PageInput& input) {
  OrderedJson processes = OrderedJson::array();
  for (const HostMeasurement& host : input.measurements.hosts) {
    if (OrderedJson process = process_memory_json(host); !process.is_null()) processes.push_back(std::move(process));
  }
  OrderedJson page = begun_page("tfdata-doctor.memory/1");
  page[key::note] = text_or_null(std::string(why_no_allocator(input.measurements)));
  page[key::incomplete_events] = incomplete_events(input.measurements);
  page[key::allocators] = array_of(allocators_of(input.measurements), [&](const AllocatorView& view) {
    return allocator_json(view, input.options.most_rows());
  });
  page[key::processes] = std::move(processes);
  page[key::pipelines] = buffers_json(input);
  return page;
}

/// A row for each kind of allocation at the peak, and for each buffer.
Result<PageRows> memory_rows(const PageInput& input) {
  DataTable table = table_with(
      {"host", "memory", "holder", "region_type", "data_type", "shape", "count", "bytes_each", "bytes", "share"});
  for (const AllocatorView& view : allocators_of(input.measurements)) {
    const auto add = [&](const AllocationGroup& group) {
      table.rows.push_back({view.host.name(), view.allocator.name, group.op_name, group.region_type, group.data_type,
                            group.shape, count_cell(group.count), count_cell(group.allocation_bytes),
                            count_cell(group.total_bytes()), view.share_of_peak(group.total_bytes())});
    };
    for (const AllocationGroup& group : largest_held(view.allocator, input.options.most_rows())) add(group);
    add({"(unseen)", {}, {}, {}, 0, view.allocator.unseen_bytes, 1});
    add({"(reserved)", {}, {}, {}, 0, view.peak().reserved_bytes, 1});
  }
  add_buffer_rows(input, table);
  return PageRows{std::move(table)};
}

}  // namespace

constinit const Page kMemoryPage = {
    .name = "memory",
    .summary = "what allocators of GPU memory gave and who held the peak; what tf.data keeps in its buffers",
    .is_drawn = true,
    .needs_tf_data = false,
    .needs = [](const ShowOptions&) -> TraceNeeds {
      return {.attribute_history = true, .element_types = true, .profile = ProfileParts()};
    },
    .rows = memory_rows,
    .text = memory_text,
    .document = memory_document};

}  // namespace doctor
