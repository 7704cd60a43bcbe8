#include "base/try.h"
#include "report/json_values.h"
#include "report/page.h"

namespace doctor {
namespace {

constexpr std::array<NamedValue<SegmentKind>, 5> kSegmentKinds = {
    {{SegmentKind::self, "self", "own work"},
     {SegmentKind::function, "function", "your function"},
     {SegmentKind::handoff, "handoff", "hand-over between threads"},
     {SegmentKind::unseen, "unseen", "not visible in the window"},
     {SegmentKind::outside, "outside", "outside of tf.data"}}};

/// How many of the slow calls; nullopt: all calls, slow or not.
std::optional<std::size_t> most_calls(const ShowOptions& options) {
  constexpr std::size_t kUnlessAsked = 100;
  return options.top ? options.most_rows() : kUnlessAsked;
}

/// A measured call by the place of its pipeline in the list.
struct Candidate {
  std::size_t pipeline = 0;
  const CallDetail* detail = nullptr;
};

/// The measured calls that are wanted, longest first.
std::vector<Candidate> sorted_calls(const std::vector<PipelineView>& pipelines, const ShowOptions& options) {
  std::vector<Candidate> calls;
  for (std::size_t index = 0; index < pipelines.size(); ++index) {
    for (const CallDetail& detail : pipelines[index].pipeline.call_details) {
      if (!options.call || detail.number == *options.call) calls.push_back({index, &detail});
    }
  }
  std::ranges::stable_sort(
      calls, [](const Candidate& a, const Candidate& b) { return a.detail->latency() > b.detail->latency(); });
  const std::optional<std::size_t> most = most_calls(options);
  if (!most || options.call) return calls;
  // The slow ones, or the longest if none is: another file of the run may have had no slower one to offer.
  const auto slow =
      std::ranges::count_if(calls, [](const Candidate& call) { return call.detail->latency() > kSlowCall; });
  calls.resize(std::min({std::max<std::size_t>(static_cast<std::size_t>(slow), 1), *most, calls.size()}));
  return calls;
}

OrderedJson segment_json(const ShownCall& call, const Segment& segment) {
  const HostMeasurement& host = call.view.host;
  const bool has_iterator = segment.iterator != kNoIterator;
  return {
      {key::start_us, to_microseconds(segment.span.start - host.window_start)},
      {key::duration_us, to_microseconds(segment.span.end - segment.span.start)},
      {key::long_name, long_name_json(host, segment.iterator)},
      {key::short_name, has_iterator ? OrderedJson(host.iterators[segment.iterator].short_name) : nullptr},
      {key::kind, to_word(segment.kind)},
      {key::thread, host.threads[index_of(segment.lane)]},
  };
}

OrderedJson call_json(const ShownCall& call) {
  return {{key::number, call.detail->number},
          {key::start_us, to_microseconds(call.start())},
          {key::latency_us, to_microseconds(call.detail->latency())},
          {key::warmup, call.is_warmup()},
          {key::thread, call.view.host.threads[index_of(call.detail->lane)]},
          {key::segments,
           array_of(call.detail->segments, [&](const Segment& segment) { return segment_json(call, segment); })}};
}

constexpr std::size_t kCallBarWidth = 40;
constexpr std::size_t kMostRows = 12;
constexpr std::size_t kCallNameWidth = 40;

std::string thread_name(const ShownCall& call, LaneId lane) {
  const std::string& name = call.view.host.threads[index_of(lane)];
  return name.empty() ? "without name" : clipped(name, kCallNameWidth);
}

/// The last `parts` parts of a long name: "Zip[1] > Map".
std::string end_of_name(std::string_view long_name, std::size_t parts) {
  std::string name;
  for (; parts > 0 && !long_name.empty(); --parts) {
    const std::size_t separator = long_name.rfind("::");
    const std::size_t begin = separator == std::string_view::npos ? 0 : separator + 2;
    if (!name.empty()) name.insert(0, " > ");
    name.insert(0, long_name.substr(begin));
    long_name = separator == std::string_view::npos ? std::string_view() : long_name.substr(0, separator);
  }
  return name;
}

/// The short name, with as many iterators above it as distinguish it from others of that name in the call.
std::string row_name(const ShownCall& call, const CallRow& row, const std::vector<CallRow>& rows) {
  if (row.iterator == kNoIterator) return "GetNext";
  const std::vector<IteratorMeasurement>& iterators = call.view.host.iterators;
  const IteratorMeasurement& own = iterators[index_of(row.iterator)];
  constexpr std::size_t kMostParts = 6;
  std::size_t parts = 1;
  const auto is_shared = [&](const CallRow& other) {
    if (other.iterator == kNoIterator || other.iterator == row.iterator) return false;
    const IteratorMeasurement& iterator = iterators[index_of(other.iterator)];
    if (iterator.short_name != own.short_name) return false;
    return end_of_name(iterator.long_name, parts) == end_of_name(own.long_name, parts);
  };
  while (parts < kMostParts && std::ranges::any_of(rows, is_shared)) ++parts;
  const std::string name = parts == 1 ? own.short_name : end_of_name(own.long_name, parts);
  return clipped(name, kCallNameWidth);
}

std::string share_of(Picoseconds time, const CallDetail& detail) {
  return format_share(share_of_time(time, std::max<Picoseconds>(detail.latency(), 1)));
}

/// The rows to print: all, or those that hold the most, which stay in order. Adds up the others.
std::vector<const CallRow*> longest_rows(const std::vector<CallRow>& rows, Picoseconds& folded) {
  std::vector<const CallRow*> chosen;
  for (const CallRow& row : rows) chosen.push_back(&row);
  folded = 0;
  if (rows.size() <= kMostRows) return chosen;
  std::ranges::stable_sort(chosen, [](const CallRow* a, const CallRow* b) { return a->time > b->time; });
  for (std::size_t index = kMostRows; index < chosen.size(); ++index) folded += chosen[index]->time;
  chosen.resize(kMostRows);
  std::ranges::sort(chosen);  // they lie in one array, in order of their first start
  return chosen;
}

/// The index of the row that holds the most; none of no rows.
std::optional<std::size_t> longest_of(const std::vector<const CallRow*>& rows) {
  const auto longest = std::ranges::max_element(rows, {}, [](const CallRow* row) { return row->time; });
  return longest == rows.end() ? std::nullopt : std::optional(static_cast<std::size_t>(longest - rows.begin()));
}

std::string main_holder(const ShownCall& call, const std::vector<CallRow>& rows, PageWidth width) {
  const auto longest = std::ranges::max_element(rows, {}, &CallRow::time);
  if (longest == rows.end() || longest->iterator == kNoIterator) return {};
  const std::string& name = call.view.host.iterators[longest->iterator].long_name;
  return fitted_lines("  mostly " + escape_for_terminal(name) + "\n", width, 4);
}

std::string chart(const ShownCall& call, const TextStyle& style) {
  const PageWidth width = style.width;
  constexpr std::size_t kBesideBar = 64;  // columns that times and names want
  const CallDetail& detail = *call.detail;
  const std::vector<CallRow> rows = rows_of(detail);
  Picoseconds folded = 0;
  const std::vector<const CallRow*> shown = longest_rows(rows, folded);
  const std::size_t spare = width.value_or(SIZE_MAX) - std::min(width.value_or(0), kBesideBar);
  const std::size_t bar = std::clamp(spare, kCallBarWidth / 4, kCallBarWidth);
  std::vector<TextRow> lines;
  for (const CallRow* const row : shown) {
    lines.push_back({fmt::format("  |{}| {:>8}", bar_of(row->spans, detail.span, bar), format_time(row->time)),
                     fmt::format("{:>6}", share_of(row->time, detail)), row_name(call, *row, rows),
                     describe_segment_kind(to_word(row->kind)), thread_name(call, row->lane)});
  }
  std::string text = text_table({{"time"},
                                 {"share", Align::right},
                                 {"iterator", Align::left, Fit::shorten},
                                 {"work", Align::left, Fit::keep, 1},
                                 {"thread", Align::left, Fit::shorten, 2}},
                                lines, width, /*has_titles=*/false, style.color ? longest_of(shown) : std::nullopt);
  if (shown.size() < rows.size()) {
    text += fmt::format("   {:{}}  {:>8}  {:>6}  {} more\n", "", bar, format_time(folded), share_of(folded, detail),
                        rows.size() - shown.size());
  }
  return text + main_holder(call, rows, width);
}

std::string call_title(const ShownCall& call, bool names_pipeline) {
  const PipelineView& view = call.view;
  std::string of = fmt::format("{}", view.pipeline.calls.size());
  if (names_pipeline) {
    of += fmt::format(" of pipeline {} on {}", pipeline_id(view), clipped(view.host.name()));
  }
  const double start = static_cast<double>(call.start()) / static_cast<double>(kPicosecondsPerSecond);
  return fmt::format("call {} of {}: {}, from {:.6f} s on (thread {}){}\n", call.detail->number, of,
                     format_time(call.detail->latency()), start, thread_name(call, call.detail->lane),
                     call.is_warmup() ? ", warm-up" : "");
}

/// What the calls were chosen from.
std::string list_title(const CallList& list, const ShowOptions& options) {
  std::string text;
  for (const PipelineView& view : list.pipelines) {
    text += fmt::format("pipeline {} on {}: {}, {} slow (longer than {})\n", pipeline_id(view),
                        clipped(view.host.name()), format_count(view.pipeline.calls.size(), "call"),
                        format_count(view.pipeline.slow_count), format_time(kSlowCall));
  }
  if (options.call) return text;
  if (!most_calls(options)) return text + "all calls, the longest first\n";
  const std::size_t slow = list.slow_count();
  if (slow == 0) return text + "no call was slow; this is the longest\n";
  if (list.calls.size() == slow) return text + "the slow calls, the longest first\n";
  return text + fmt::format("{} of {}, the longest first; --top 0 shows all calls\n", format_count(list.calls.size()),
                            format_count(slow, "slow call"));
}

OrderedJson calls_json(const CallList& list) {
  const auto pipeline_json = [&](const PipelineView& view) -> OrderedJson {
    OrderedJson calls = OrderedJson::array();
    for (const ShownCall& call : list.calls) {
      if (&call.view.pipeline == &view.pipeline) calls.push_back(call_json(call));
    }
    return {{key::id, pipeline_id(view)},
            {key::host, view.host.name()},
            {key::root, long_name_json(view.host, view.pipeline.root)},
            {key::call_count, view.pipeline.calls.size()},
            {key::slow_count, view.pipeline.slow_count},
            {key::calls, std::move(calls)}};
  };
  OrderedJson page = begun_page("tfdata-doctor.calls/1");
  page[key::slow_threshold_us] = to_microseconds(kSlowCall);
  page[key::pipelines] = array_of(list.pipelines, pipeline_json);
  return page;
}

/// A row for each segment.
Result<PageRows> calls_rows(const PageInput& input) {
  DataTable table = table_with({key::pipeline, key::host, "call", "call_start_us", key::latency_us, key::warmup,
                                "segment_start_us", key::duration_us, key::kind, key::long_name, key::thread});
  ASSIGN_OR_RETURN(const CallList list, choose_calls(input));
  for (const ShownCall& call : list.calls) {
    const HostMeasurement& host = call.view.host;
    for (const Segment& segment : call.detail->segments) {
      const bool has_iterator = segment.iterator != kNoIterator;
      table.rows.push_back({pipeline_id(call.view), host.name(), static_cast<std::int64_t>(call.detail->number),
                            call.start(), call.detail->latency(), call.is_warmup(),
                            segment.span.start - host.window_start, segment.span.end - segment.span.start,
                            std::string(to_word(segment.kind)),
                            has_iterator ? host.iterators[segment.iterator].long_name : std::string(),
                            host.threads[index_of(segment.lane)]});
    }
  }
  return PageRows{std::move(table)};
}

Result<std::string> calls_text(const PageInput& input) {
  const TextStyle& style = input.options.style;
  ASSIGN_OR_RETURN(const CallList list, choose_calls(input));
  if (!input.measurements.shows_tf_data()) return "no tf.data iterator in this trace\n";
  if (list.calls.empty()) return "no GetNext call of a consumer in this trace\n";
  std::string text = fitted_lines(list_title(list, input.options), style.width, 2);
  for (const ShownCall& call : list.calls) {
    text += "\n" + fitted_lines(call_title(call, list.pipelines.size() > 1), style.width, 2) + chart(call, style);
  }
  return text;
}

}  // namespace

constinit const Page kCallsPage = {
    .name = "calls",
    .summary = "slow GetNext calls: who held them when, on which thread",
    .screenful = 10,
    .needs = [](const ShowOptions& options) { return TraceNeeds{.calls = options.calls(most_calls(options))}; },
    .rows = calls_rows,
    .text = calls_text,
    .document = [](const PageInput& input) { return choose_calls(input).map(calls_json); }};

std::size_t CallList::slow_count() const {
  std::size_t count = 0;
  for (const PipelineView& view : pipelines) count += view.pipeline.slow_count;
  return count;
}

Result<CallList> choose_calls(const PageInput& input) {
  const ShowOptions& options = input.options;
  CallList list;
  if (!input.measurements.shows_tf_data()) return list;
  ASSIGN_OR_RETURN(std::vector<PipelineView> pipelines,
                   choose_pipelines(input.measurements, input.diagnosis.judgement, options.pipeline));
  if (options.call) {
    RETURN_IF_ERROR(check_call_number(pipelines, *options.call));
  }
  for (const PipelineView& view : pipelines) {
    if (list.pipelines.empty() || !options.call) list.pipelines.push_back(view);
  }
  for (const Candidate& call : sorted_calls(list.pipelines, options)) {
    list.calls.push_back({list.pipelines[call.pipeline], call.detail});
  }
  return list;
}

std::vector<CallRow> rows_of(const CallDetail& detail) {
  std::map<std::tuple<IteratorId, SegmentKind, LaneId>, std::size_t> places;
  std::vector<CallRow> rows;
  for (const Segment& segment : detail.segments) {
    const auto [place, is_new] = places.try_emplace({segment.iterator, segment.kind, segment.lane}, rows.size());
    if (is_new) rows.push_back({segment.iterator, segment.kind, segment.lane, 0, {}});
    CallRow& row = rows[place->second];
    row.time += segment.span.end - segment.span.start;
    row.spans.push_back(segment.span);
  }
  return rows;
}

std::string_view block_of(double part) {
  static constexpr std::array<std::string_view, 9> kBlocks = {" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
  // Rounded, but never to nothing.
  return kBlocks[static_cast<std::size_t>(std::clamp(part * 8 + 0.5, part > 0 ? 1.0 : 0.0, 8.0))];
}

void add_to_columns(const LaneSpan& part, Interval window, std::vector<double>& columns) {
  const double column = static_cast<double>(window.end - window.start) / static_cast<double>(columns.size());
  const double density = share_of_time(part.work, part.span.end - part.span.start);
  const double start = static_cast<double>(part.span.start - window.start) / column;
  const double end = static_cast<double>(part.span.end - window.start) / column;
  for (auto at = static_cast<std::size_t>(start); at < columns.size() && static_cast<double>(at) < end; ++at) {
    const auto left = static_cast<double>(at);
    columns[at] += density * (std::min(end, left + 1) - std::max(start, left));
  }
}

std::string bar_of(const std::vector<Interval>& spans, Interval window, std::size_t width) {
  std::vector<double> covered(width, 0);  // of each column, as a share of it
  for (const Interval& span : spans) add_to_columns({span, span.end - span.start}, window, covered);
  std::string bar;
  for (const double part : covered) bar += block_of(part);
  return bar;
}

std::string_view to_word(SegmentKind kind) {
  return std::ranges::find(kSegmentKinds, kind, &NamedValue<SegmentKind>::value)->word;
}

std::string describe_segment_kind(std::string_view word) {
  const auto* const found = std::ranges::find(kSegmentKinds, word, &NamedValue<SegmentKind>::word);
  return std::string(found == kSegmentKinds.end() ? word : found->words);
}

}  // namespace doctor
