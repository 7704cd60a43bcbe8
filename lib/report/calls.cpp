#include "report/calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "measure/call_details.h"
#include "text/numbers.h"

namespace doctor {
namespace {

/// The pipelines to choose from: the one that is named, else all that feed no other.
Result<std::vector<PipelineView>> choose_pipelines(const Measurements& measurements, const Diagnosis& diagnosis,
                                                   const std::optional<std::string>& id) {
  std::vector<PipelineView> chosen;
  std::string known;
  for (const PipelineView& view : pipelines_of(measurements, diagnosis.judgement)) {
    const std::string own = pipeline_id(view.judgement, view.pipeline);
    known += (known.empty() ? "" : ", ") + own;
    if (id ? own == *id : !view.pipeline.feeds_another) chosen.push_back(view);
  }
  if (id && chosen.empty() && shows_tf_data(measurements)) {
    return fail("no pipeline '" + *id + "'", "--pipeline",
                known.empty() ? "the trace shows no GetNext call" : "known: " + known);
  }
  return chosen;
}

Result<void> check_number(const std::vector<PipelineView>& pipelines, std::size_t number) {
  const std::string where = fmt::format("--call {}", number);
  if (pipelines.empty()) return fail("the trace shows no GetNext call", where);
  const PipelineView& view = pipelines.front();
  const std::size_t count = view.pipeline.calls.size();
  if (number >= 1 && number <= count) return {};
  return fail(
      fmt::format("pipeline {} has {}", pipeline_id(view.judgement, view.pipeline), format_count(count, "call")), where,
      fmt::format("they are numbered from 1 to {}", count));
}

/// A measured call by the place of its pipeline in the list.
struct Candidate {
  std::size_t pipeline = 0;
  const CallDetail* detail = nullptr;
};

/// The measured calls that are wanted, longest first.
std::vector<Candidate> sorted_calls(const std::vector<PipelineView>& pipelines, const CallChoice& choice) {
  std::vector<Candidate> calls;
  for (std::size_t index = 0; index < pipelines.size(); ++index) {
    for (const CallDetail& detail : pipelines[index].pipeline.call_details) {
      if (!choice.number || detail.number == *choice.number) calls.push_back({index, &detail});
    }
  }
  std::stable_sort(calls.begin(), calls.end(),
                   [](const Candidate& a, const Candidate& b) { return a.detail->latency() > b.detail->latency(); });
  if (!choice.top || choice.number) return calls;
  // The slow ones, or the longest if none is: another file of the run may have had no slower one to offer.
  const auto slow = std::count_if(calls.begin(), calls.end(),
                                  [](const Candidate& call) { return call.detail->latency() > kSlowCall; });
  calls.resize(std::min({std::max<std::size_t>(static_cast<std::size_t>(slow), 1), *choice.top, calls.size()}));
  return calls;
}

}  // namespace

CallDetailRequest CallChoice::wish() const {
  return {top, number, pipeline ? root_of_pipeline_id(*pipeline) : std::nullopt};
}

std::size_t CallList::call_count() const {
  std::size_t count = 0;
  for (const PipelineView& view : pipelines) count += view.pipeline.calls.size();
  return count;
}

std::size_t CallList::slow_count() const {
  std::size_t count = 0;
  for (const PipelineView& view : pipelines) count += view.pipeline.slow_count;
  return count;
}

Result<CallList> choose_calls(const Measurements& measurements, const Diagnosis& diagnosis, const CallChoice& choice) {
  CallList list;
  list.choice = choice;
  list.shows_tf_data = shows_tf_data(measurements);
  if (!list.shows_tf_data) return list;
  Result<std::vector<PipelineView>> pipelines = choose_pipelines(measurements, diagnosis, choice.pipeline);
  if (!pipelines) return Unexpected(pipelines.error());
  if (choice.number) {
    if (const Result<void> known = check_number(*pipelines, *choice.number); !known) return Unexpected(known.error());
  }
  for (const PipelineView& view : *pipelines) {
    if (list.pipelines.empty() || !choice.number) list.pipelines.push_back(view);
  }
  for (const Candidate& call : sorted_calls(list.pipelines, choice)) {
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

std::string bar_of(const std::vector<Interval>& spans, Interval window, std::size_t width) {
  static constexpr std::array<std::string_view, 9> kBlocks = {" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
  const double column = static_cast<double>(window.end - window.start) / static_cast<double>(width);
  std::vector<double> covered(width, 0);  // of each column, as a part of it
  for (const Interval& span : spans) {
    const double start = static_cast<double>(span.start - window.start) / column;
    const double end = static_cast<double>(span.end - window.start) / column;
    for (auto at = static_cast<std::size_t>(start); at < width && static_cast<double>(at) < end; ++at) {
      const auto left = static_cast<double>(at);
      covered[at] += std::min(end, left + 1) - std::max(start, left);
    }
  }
  std::string bar;
  for (const double part : covered) {
    // Rounded, but never to nothing.
    const auto eighths = static_cast<std::size_t>(std::clamp(part * 8 + 0.5, part > 0 ? 1.0 : 0.0, 8.0));
    bar += kBlocks[eighths];
  }
  return bar;
}

}  // namespace doctor
