#include <fmt/format.h>

#include <algorithm>

#include "report/calls.h"
#include "text/columns.h"
#include "text/escape.h"
#include "text/numbers.h"

namespace doctor {
namespace {

constexpr std::size_t kCallBarWidth = 40;
constexpr std::size_t kMostRows = 12;
constexpr std::size_t kCallNameWidth = 40;
constexpr std::size_t kCallTextWidth = 60;

std::string_view words_of(SegmentKind kind) {
  switch (kind) {
    case SegmentKind::self:
      return "own work";
    case SegmentKind::function:
      return "your function";
    case SegmentKind::handoff:
      return "hand-over between threads";
    case SegmentKind::unseen:
      return "not visible in the window";
    case SegmentKind::outside:
      break;
  }
  return "outside of tf.data";
}

std::string thread_name(const ShownCall& call, LaneId lane) {
  const std::string& name = call.view.host.threads[index_of(lane)];
  return name.empty() ? "without name" : clip(escape_for_terminal(name), kCallNameWidth);
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

/// The short name, with what stands above the iterator as far as that tells it from others of that name in the call.
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
  while (parts < kMostParts && std::any_of(rows.begin(), rows.end(), is_shared)) ++parts;
  const std::string name = parts == 1 ? own.short_name : end_of_name(own.long_name, parts);
  return clip(escape_for_terminal(name), kCallNameWidth);
}

std::string share_of(Picoseconds time, const CallDetail& detail) {
  const Picoseconds latency = std::max<Picoseconds>(detail.latency(), 1);
  return format_share(static_cast<double>(time) / static_cast<double>(latency));
}

/// The rows to print: all, or those that hold the most, which stay in order. Adds up the others.
std::vector<const CallRow*> longest_rows(const std::vector<CallRow>& rows, Picoseconds& folded) {
  std::vector<const CallRow*> chosen;
  chosen.reserve(rows.size());
  for (const CallRow& row : rows) chosen.push_back(&row);
  folded = 0;
  if (rows.size() <= kMostRows) return chosen;
  std::stable_sort(chosen.begin(), chosen.end(), [](const CallRow* a, const CallRow* b) { return a->time > b->time; });
  for (std::size_t index = kMostRows; index < chosen.size(); ++index) folded += chosen[index]->time;
  chosen.resize(kMostRows);
  std::sort(chosen.begin(), chosen.end());  // they lie in one array, in order of their first start
  return chosen;
}

std::string main_holder(const ShownCall& call, const std::vector<CallRow>& rows) {
  const auto longest =
      std::max_element(rows.begin(), rows.end(), [](const CallRow& a, const CallRow& b) { return a.time < b.time; });
  if (longest == rows.end() || longest->iterator == kNoIterator) return {};
  return "  mostly " + escape_for_terminal(call.view.host.iterators[index_of(longest->iterator)].long_name) + "\n";
}

std::string chart(const ShownCall& call) {
  const CallDetail& detail = *call.detail;
  const std::vector<CallRow> rows = rows_of(detail);
  Picoseconds folded = 0;
  const std::vector<const CallRow*> shown = longest_rows(rows, folded);
  std::size_t name_width = 0;
  std::size_t kind_width = 0;
  for (const CallRow* const row : shown) {
    name_width = std::max(name_width, column_count(row_name(call, *row, rows)));
    kind_width = std::max(kind_width, words_of(row->kind).size());
  }
  std::string text;
  for (const CallRow* const row : shown) {
    const std::string name = row_name(call, *row, rows);
    text += fmt::format("  |{}| {:>8}  {:>6}  {}{:{}}  {:<{}}  {}\n", bar_of(row->spans, detail.span, kCallBarWidth),
                        format_time(row->time), share_of(row->time, detail), name, "", name_width - column_count(name),
                        words_of(row->kind), kind_width, thread_name(call, row->lane));
  }
  if (shown.size() < rows.size()) {
    text += fmt::format("   {:{}}  {:>8}  {:>6}  {} more\n", "", kCallBarWidth, format_time(folded),
                        share_of(folded, detail), rows.size() - shown.size());
  }
  return text + main_holder(call, rows);
}

std::string call_title(const ShownCall& call, bool names_pipeline) {
  const PipelineView& view = call.view;
  std::string of = fmt::format("{}", view.pipeline.calls.size());
  if (names_pipeline) {
    of += fmt::format(" of pipeline {} on {}", pipeline_id(view.judgement, view.pipeline),
                      clip(escape_for_terminal(host_name(view.host)), kCallTextWidth));
  }
  const double start = static_cast<double>(call.start()) / static_cast<double>(kPicosecondsPerSecond);
  return fmt::format("call {} of {}: {}, from {:.6f} s on (thread {}){}\n", call.detail->number, of,
                     format_time(call.detail->latency()), start, thread_name(call, call.detail->lane),
                     call.is_warmup() ? ", warm-up" : "");
}

/// What the calls were chosen from.
std::string list_title(const CallList& list) {
  std::string text;
  for (const PipelineView& view : list.pipelines) {
    text += fmt::format("pipeline {} on {}: {}, {} slow (longer than {})\n", pipeline_id(view.judgement, view.pipeline),
                        clip(escape_for_terminal(host_name(view.host)), kCallTextWidth),
                        format_count(view.pipeline.calls.size(), "call"), format_count(view.pipeline.slow_count),
                        format_time(kSlowCall));
  }
  if (list.choice.number) return text;
  if (!list.choice.top) return text + "all calls, the longest first\n";
  const std::size_t slow = list.slow_count();
  if (slow == 0) return text + "no call was slow; this is the longest\n";
  if (list.calls.size() == slow) return text + "the slow calls, the longest first\n";
  return text + fmt::format("{} of {}, the longest first; --top 0 shows all calls\n", format_count(list.calls.size()),
                            format_count(slow, "slow call"));
}

}  // namespace

std::string render_calls_text(const CallList& list) {
  if (!list.shows_tf_data) return "no tf.data iterator in this trace\n";
  if (list.calls.empty()) return "no GetNext call of a consumer in this trace\n";
  std::string text = list_title(list);
  for (const ShownCall& call : list.calls) text += "\n" + call_title(call, list.pipelines.size() > 1) + chart(call);
  return text;
}

}  // namespace doctor
