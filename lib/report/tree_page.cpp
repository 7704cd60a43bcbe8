#include "base/intervals.h"
#include "report/json_values.h"
#include "report/page.h"
#include "report/report.h"

namespace doctor {
namespace {

constexpr std::size_t kDeepestIndent = 24;  // in levels; deeper iterators say how deep they are
constexpr std::size_t kTreeNameWidth = 48;

std::string indented_name(const IteratorMeasurement& iterator, bool is_culprit) {
  const std::size_t depth = iterator.depth;
  const bool is_too_deep = depth > kDeepestIndent;
  std::string name = is_too_deep ? fmt::format("({}) ", depth) : "";
  name += clipped(iterator.short_name, kTreeNameWidth);
  if (iterator.is_async) name += " ~";
  if (is_culprit) name += " <--";
  return std::string(2 * std::min(depth, kDeepestIndent), ' ') + name;
}

std::string attributes_of(const IteratorMeasurement& iterator) {
  std::string text;
  for (const AttributeValue& attribute : iterator.attributes) {
    if (!text.empty()) text += ' ';
    const std::string value = attribute.number ? fmt::format("{}", *attribute.number) : attribute.text;
    text += escape_for_terminal(attribute.name) + "=" + clipped(value);
  }
  if (!iterator.dataset_name.empty()) {
    text += fmt::format("{}({})", text.empty() ? "" : " ", clipped(iterator.dataset_name));
  }
  return text;
}

TextRow cells_of(const IteratorMeasurement& iterator, bool is_culprit, std::string share) {
  return {indented_name(iterator, is_culprit),
          format_count(iterator.calls),
          format_time(iterator.self),
          iterator.function > 0 ? format_time(iterator.function) : "",
          format_time(iterator.total),
          iterator.is_async ? format_time(iterator.wait) : "",
          std::move(share),
          attributes_of(iterator)};
}

std::string table(const std::vector<TextRow>& rows, PageWidth width, std::optional<std::size_t> strong = {}) {
  return text_table({{"iterator", Align::left, Fit::shorten},
                     {"calls", Align::right},
                     {"self", Align::right},
                     {"function", Align::right, Fit::keep, 1},
                     {"total", Align::right, Fit::keep, 2},
                     {"wait", Align::right, Fit::keep, 3},
                     {"share", Align::right},
                     {"attributes", Align::left, Fit::shorten, 4}},
                    rows, width, /*has_titles=*/true, strong);
}

std::string pipeline_table(const PipelineView& view, const TextStyle& style) {
  const PipelineMeasurement& pipeline = view.pipeline;
  std::vector<TextRow> rows;
  std::optional<std::size_t> culprit_row;
  for (const IteratorId member : members_in_tree_order(view.host, pipeline)) {
    const std::string share =
        pipeline.total > 0 ? format_share(share_of_time(critical_time(pipeline, member), pipeline.total)) : "";
    const bool is_culprit = names_culprit(view.judgement) && member == view.judgement.culprit;
    if (is_culprit && style.color) culprit_row = rows.size();
    rows.push_back(cells_of(view.host.iterators[member], is_culprit, share));
  }
  return table(rows, style.width, culprit_row);
}

/// The stages of a loader written in Python, consumers first.
std::string loader_table(const PipelineView& view, PageWidth width) {
  const BatchMaking* const making = batch_making_of(view.host, view.pipeline);
  if (making == nullptr || making->stages.empty()) return "the trace shows nothing inside of these calls\n";
  std::vector<std::size_t> depths;
  std::vector<TextRow> rows;
  for (std::size_t index = 0; index < making->stages.size(); ++index) {
    const LoaderStage& stage = making->stages[index];
    depths.push_back(stage.consumer == LoaderStage::kNone ? 0 : depths[stage.consumer] + 1);
    const bool is_slowest = &stage == making->slowest_stage();
    rows.push_back(
        {std::string(2 * std::min(depths.back(), kDeepestIndent), ' ') + stage.name + (is_slowest ? " <--" : ""),
         format_count(stage.calls), format_time(stage.in_next), format_time(stage.in_makers),
         format_time(stage.waited + stage.for_lock), format_time(stage.in_functions),
         escape_for_terminal(stage.function)});
  }
  return text_table({{"stage", Align::left, Fit::shorten},
                     {"calls", Align::right},
                     {"in next()", Align::right},
                     {"in threads", Align::right},
                     {"waits", Align::right, Fit::keep, 1},
                     {"function", Align::right},
                     {"which", Align::left, Fit::shorten}},
                    rows, width, /*has_titles=*/true) +
         fitted_lines(
             "\nown times of Python's frames, without those of the stages below; waits: for other threads or "
             "processes, and for "
             "Python's lock\n",
             width);
}

/// ", 39% of the window": of all calls, those that the verdict leaves out too.
std::string window_part(const PipelineView& view) {
  if (view.host.window <= 0) return {};
  const Picoseconds waited = total_length(merged(view.pipeline.calls));
  return fmt::format(", {} of the window", format_share(share_of_time(waited, view.host.window)));
}

std::string pipeline_title(const PipelineView& view) {
  std::string links = view.pipeline.feeds_another ? ", feeds another" : "";
  for (const std::string& id : feeding_pipelines(view)) links += ", fed by " + id;
  return fmt::format("pipeline {} ({}{}) on {}: {} in GetNext{} ({})\n", pipeline_id(view),
                     view.pipeline.is_device ? "device" : "host", links, clipped(view.host.name()),
                     format_time(view.pipeline.total), window_part(view), describe_calls(view.pipeline));
}

std::string others_text(const HostMeasurement& host, PageWidth width) {
  std::vector<TextRow> rows;
  for (const IteratorId iterator : other_iterators(host)) {
    rows.push_back(cells_of(host.iterators[iterator], false, ""));
  }
  if (rows.empty()) return {};
  const std::string host_words = clipped(host.name());
  return fitted_lines("no call of a consumer was seen for these on " + host_words + "\n", width, 2) +
         table(rows, width);
}

/// The iterator trees with their times, pipelines in the order of the judgement; roots that no call of a consumer was
/// seen of come last.
Result<std::string> tree_text(const PageInput& input) {
  const auto& [measurements, diagnosis, options] = input;
  const PageWidth width = options.style.width;
  std::string text;
  const auto add = [&text](const std::string& section) {
    if (!text.empty() && !section.empty()) text += '\n';
    text += section;
  };
  for (const PipelineView& view : pipelines_of(measurements, diagnosis.judgement)) {
    const bool is_bare = view.pipeline.root == kNoIterator;
    add(fitted_lines(pipeline_title(view), width, 2) +
        (is_bare ? loader_table(view, width) : pipeline_table(view, options.style)));
  }
  for (const HostMeasurement& host : measurements.hosts) add(others_text(host, width));
  if (text.empty()) return "no tf.data iterator in this trace\n";
  const auto has_iterators = [](const HostMeasurement& host) { return !host.iterators.empty(); };
  if (std::ranges::none_of(measurements.hosts, has_iterators)) return text;
  return text +
         fitted_lines(
             "\nself: own work; function: ops of its function on other threads; wait: for other threads "
             "(asynchronous, marked ~);\nshare: of the time in GetNext that it holds, over all calls; <-- culprit\n",
             width);
}

/// `tfdata-doctor.tree/2`: the array `pipelines` of the report, and `other_iterators`.
Result<OrderedJson> tree_document(const PageInput& input) {
  const auto& [measurements, diagnosis, options] = input;
  OrderedJson others = OrderedJson::array();
  for (const HostMeasurement& host : measurements.hosts) {
    OrderedJson iterators =
        array_of(other_iterators(host), [&](const IteratorId iterator) { return iterator_json(host, iterator, 0); });
    if (!iterators.empty()) others.push_back({{key::host, host.name()}, {key::iterators, std::move(iterators)}});
  }
  OrderedJson page = begun_page("tfdata-doctor.tree/2");
  page[key::pipelines] = array_of(pipelines_of(measurements, diagnosis.judgement), pipeline_json);
  page[key::other_iterators] = std::move(others);
  return page;
}

}  // namespace

constinit const Page kTreePage = {.name = "tree",
                                  .summary = "the iterators with their calls and times",
                                  .text = tree_text,
                                  .document = tree_document};

}  // namespace doctor
