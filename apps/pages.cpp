#include "pages.h"

#include <algorithm>
#include <array>

#include "report/autotune.h"
#include "report/calls.h"
#include "report/report.h"

namespace doctor {
namespace {

AnalysisOptions nothing_more(const Options&) {
  return {};
}

Result<std::string> render_tree(const Options& options, const Analysis& analysis) {
  return options.format == OutputFormat::json ? render_tree_json(analysis.measurements, analysis.diagnosis)
                                              : render_tree_text(analysis.measurements, analysis.diagnosis);
}

/// A person reads a few charts; a program can take more.
CallChoice call_choice(const Options& options) {
  CallChoice choice = {options.call, options.pipeline, options.format == OutputFormat::text ? 10 : 100};
  if (options.top) choice.top = *options.top > 0 ? options.top : std::nullopt;
  return choice;
}

AnalysisOptions call_details(const Options& options) {
  AnalysisOptions needed;
  needed.measure.calls = call_choice(options).wish();
  return needed;
}

Result<std::string> render_calls(const Options& options, const Analysis& analysis) {
  const Result<CallList> list = choose_calls(analysis.measurements, analysis.diagnosis, call_choice(options));
  if (!list) return Unexpected(list.error());
  if (options.format == OutputFormat::json) return render_calls_json(*list);
  return options.format == OutputFormat::csv ? render_calls_csv(*list) : render_calls_text(*list);
}

AnalysisOptions attribute_history(const Options&) {
  AnalysisOptions needed;
  needed.read.attribute_history = true;
  return needed;
}

Result<std::string> render_autotune(const Options& options, const Analysis& analysis) {
  if (options.format == OutputFormat::json) return render_autotune_json(analysis.measurements, analysis.diagnosis);
  return options.format == OutputFormat::csv ? render_autotune_csv(analysis.measurements, analysis.diagnosis)
                                             : render_autotune_text(analysis.measurements, analysis.diagnosis);
}

constexpr std::array<Page, 3> kPages = {{
    {"tree", "the iterators with their calls and times", false, false, nothing_more, render_tree},
    {"calls", "slow GetNext calls: who held them when, on which thread", true, true, call_details, render_calls},
    {"autotune", "what each stage was given and chose, and whether it binds", true, false, attribute_history,
     render_autotune},
}};

}  // namespace

std::span<const Page> pages() {
  return kPages;
}

std::vector<std::string_view> page_names() {
  std::vector<std::string_view> names;
  names.reserve(kPages.size());
  for (const Page& page : kPages) names.push_back(page.name);
  return names;
}

const Page* find_page(std::string_view name) {
  const auto* const found =
      std::find_if(kPages.begin(), kPages.end(), [&](const Page& page) { return page.name == name; });
  return found == kPages.end() ? nullptr : found;
}

}  // namespace doctor
