#include "report/selection.h"

#include <fmt/format.h>

#include <unordered_set>

#include "base/parse.h"
#include "diagnose/user_code.h"
#include "text/numbers.h"

namespace doctor {
namespace {

/// Appends the trees below `roots` in order, each iterator once. Keeps its own stack: a hostile trace nests deeply.
std::vector<IteratorId> in_tree_order(const HostMeasurement& host, const std::vector<IteratorId>& roots,
                                      std::unordered_set<IteratorId> wanted) {
  std::vector<IteratorId> order;
  for (const IteratorId root : roots) {
    std::vector<IteratorId> pending = {root};
    while (!pending.empty()) {
      const IteratorId iterator = pending.back();
      pending.pop_back();
      if (wanted.erase(iterator) == 0) continue;
      order.push_back(iterator);
      const std::vector<IteratorId>& children = host.iterators[iterator].children;
      pending.insert(pending.end(), children.rbegin(), children.rend());
    }
  }
  return order;
}

/// Whether it advises a prefetch at the end of the pipeline.
bool is_about_end(const Finding& finding) {
  return std::ranges::any_of(finding.advice, [](const Advice& advice) {
    return std::ranges::any_of(
        advice.fixes, [](const Fix& fix) { return fix.kind == FixKind::prefetch && fix.iterator == kNoIterator; });
  });
}

}  // namespace

const SourceLine* source_of(const Measurements& measurements, const Judgement& judgement, const Finding& finding) {
  if (!finding.host || !finding.pipeline || finding.subject.empty()) return nullptr;
  const PipelineJudgement& judged = judgement.pipelines[*finding.pipeline];
  const HostMeasurement& host = measurements.hosts[judged.host];
  for (const IteratorId member : host.pipelines[judged.pipeline].members) {
    const IteratorMeasurement& iterator = host.iterators[member];
    if (iterator.long_name != finding.subject) continue;
    // What is added at the end follows the last of several that TF fused.
    return is_about_end(finding) && !iterator.source_lines.empty() ? &iterator.source_lines.back()
                                                                   : host.iterators[member].line();
  }
  return nullptr;
}

std::string title_of_traces(const Measurements& measurements) {
  if (measurements.hosts.empty()) return "tfdata-doctor";
  constexpr std::string_view kRuns = "plugins/profile/";
  const HostMeasurement& first = measurements.hosts.front();
  const std::string& path = first.files.front().path;
  const std::size_t run = path.rfind(kRuns);
  const std::size_t end = path.rfind('/');
  const bool has_run = run != std::string::npos && end >= run + kRuns.size();
  const std::string before =
      has_run ? path.substr(run + kRuns.size(), end - run - kRuns.size()) + " / " : std::string();
  const std::size_t others = measurements.hosts.size() - 1;
  if (others > 0) return before + format_count(others + 1, "host");
  // A machine has a name that says less than that of its file, if that is all there is.
  return before + (has_run || first.hosts.empty() ? first.name() : name_of_files(first) + " on " + first.name());
}

Result<std::vector<PipelineView>> choose_pipelines(const Measurements& measurements, const Judgement& judgement,
                                                   const std::optional<std::string>& id) {
  std::vector<PipelineView> chosen;
  std::string known;
  for (const PipelineView& view : pipelines_of(measurements, judgement)) {
    const std::string own = pipeline_id(view);
    known += (known.empty() ? "" : ", ") + own;
    if (id ? own == *id : !view.pipeline.feeds_another) chosen.push_back(view);
  }
  if (id && chosen.empty() && measurements.shows_tf_data()) {
    return fail("no pipeline '" + *id + "'", "--pipeline",
                known.empty() ? "the trace shows no GetNext call" : "known: " + known);
  }
  return chosen;
}

Result<void> check_call_number(const std::vector<PipelineView>& pipelines, std::size_t number) {
  const std::string where = fmt::format("--call {}", number);
  if (pipelines.empty()) return fail("the trace shows no GetNext call", where);
  const PipelineView& view = pipelines.front();
  const std::size_t count = view.pipeline.calls.size();
  if (number >= 1 && number <= count) return {};
  return fail(fmt::format("pipeline {} has {}", pipeline_id(view), format_count(count, "call")), where,
              fmt::format("they are numbered from 1 to {}", count));
}

Picoseconds critical_time(const PipelineMeasurement& pipeline, IteratorId iterator) {
  Picoseconds time = 0;
  for (const PhaseMeasurement* phase : {&pipeline.warmup, &pipeline.steady}) {
    time += phase->critical[iterator];
  }
  return time;
}

std::vector<IteratorId> members_in_tree_order(const HostMeasurement& host, const PipelineMeasurement& pipeline) {
  std::vector<IteratorId> starts;
  if (pipeline.root != kNoIterator) starts.push_back(pipeline.root);
  for (const IteratorId member : pipeline.members) {
    if (host.iterators[member].parent == kNoIterator) starts.push_back(member);
  }
  // Last, so that a member whose parent is none of them is not lost.
  starts.insert(starts.end(), pipeline.members.begin(), pipeline.members.end());
  return in_tree_order(host, starts, {pipeline.members.begin(), pipeline.members.end()});
}

std::vector<IteratorId> members_in_code_order(const HostMeasurement& host, const PipelineMeasurement& pipeline) {
  std::vector<std::vector<IteratorId>> trees;
  std::vector<IteratorId> open;  // inputs of the last one are to come
  const auto close = [&] {
    trees.back().push_back(open.back());
    open.pop_back();
  };
  for (const IteratorId member : members_in_tree_order(host, pipeline)) {
    while (!open.empty() && open.back() != host.iterators[member].parent) close();
    if (open.empty()) trees.emplace_back();
    open.push_back(member);
  }
  while (!open.empty()) close();
  std::vector<IteratorId> order;
  for (auto tree = trees.rbegin(); tree != trees.rend(); ++tree) order.insert(order.end(), tree->begin(), tree->end());
  return order;
}

std::vector<IteratorId> other_iterators(const HostMeasurement& host) {
  std::vector<bool> is_other(host.iterators.size(), true);
  for (const PipelineMeasurement& pipeline : host.pipelines) {
    for (const IteratorId member : pipeline.members) is_other[index_of(member)] = false;
  }
  std::vector<IteratorId> starts;
  for (const bool only_roots : {true, false}) {
    for (std::size_t index = 0; index < host.iterators.size(); ++index) {
      const bool is_root = host.iterators[index].parent == kNoIterator;
      if (is_root == only_roots) starts.push_back(static_cast<IteratorId>(index));
    }
  }
  std::unordered_set<IteratorId> others;
  for (const IteratorId iterator : starts) {
    if (is_other[index_of(iterator)]) others.insert(iterator);
  }
  return in_tree_order(host, starts, std::move(others));
}

std::vector<IteratorGroup> iterator_groups(const Measurements& measurements, const Judgement& judgement) {
  std::vector<IteratorGroup> groups;
  for (const PipelineView& view : pipelines_of(measurements, judgement)) {
    if (view.pipeline.feeds_another) continue;
    groups.push_back({view.host, &view.pipeline, pipeline_id(view), members_in_tree_order(view.host, view.pipeline)});
  }
  for (const HostMeasurement& host : measurements.hosts) {
    std::vector<IteratorId> others = other_iterators(host);
    if (!others.empty()) groups.push_back({host, nullptr, {}, std::move(others)});
  }
  return groups;
}

std::vector<std::string> feeding_pipelines(const PipelineView& view) {
  std::vector<std::string> ids;
  for (const IteratorId root : view.pipeline.fed_by) {
    ids.push_back(fmt::format("{}:{}", view.judgement.host, index_of(root)));
  }
  return ids;
}

std::string pipeline_id(const PipelineView& view) {
  return pipeline_id(view.judgement, view.pipeline.root);
}

std::string pipeline_id(const PipelineJudgement& judgement, IteratorId root) {
  if (root == kNoIterator) return fmt::format("{}:getnext", judgement.host);
  return fmt::format("{}:{}", judgement.host, index_of(root));
}

std::optional<IteratorId> root_of_pipeline_id(std::string_view id) {
  const std::size_t colon = id.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view root = id.substr(colon + 1);
  if (root == "getnext") return kNoIterator;
  const std::optional<std::uint32_t> number = parse_whole<std::uint32_t>(root);
  return number ? std::optional(static_cast<IteratorId>(*number)) : std::nullopt;
}

std::vector<std::string> source_lines_faults(const Measurements& measurements) {
  std::vector<std::string> faults;
  for (const HostMeasurement& host : measurements.hosts) {
    if (!host.source_lines_fault.empty()) faults.push_back(host.source_lines_fault);
  }
  std::ranges::sort(faults);
  faults.erase(std::unique(faults.begin(), faults.end()), faults.end());
  return faults;
}

}  // namespace doctor
