#include "html_documents.h"

#include <algorithm>
#include <array>

#include "diagnose/catalog.h"
#include "io/trace_inputs.h"
#include "pages.h"
#include "report/explanation_page.h"
#include "report/html/html_page.h"
#include "report/report.h"
#include "report/rules_page.h"
#include "report/selection.h"
#include "text/numbers.h"

namespace doctor {
namespace {

/// A page of `show` that is part of the page, and how many of its rows.
struct ShownPart {
  std::string_view page;
  std::size_t top;
  bool needs_profile = false;
};

constexpr std::uint64_t kLargestWithHistory = 256'000'000;

// As many rows as a person looks at: the page stays small, however long the trace is.
constexpr std::array<ShownPart, 7> kParts = {{{"timeline", 0},
                                              {"steps", 300, true},
                                              {"autotune", 0},
                                              {"ops", 25, true},
                                              {"kernels", 25},
                                              {"memory", 25, true},
                                              {"hosts", 100, true}}};

ShowOptions options_of_part(const ShownPart& part) {
  ShowOptions options;
  options.format = OutputFormat::json;
  if (part.top > 0) options.top = part.top;
  return options;
}

/// A trace that has nothing of it gets no such part.
void add_part(const ShownPart& part, const std::string& prefix, const Analysis& analysis,
              std::vector<PageDocument>& documents) {
  const Page* const page = find_page(part.page);
  const Result<std::string> json = page->render(options_of_part(part), analysis);
  if (json) documents.push_back({prefix + std::string(part.page), OrderedJson::parse(*json)});
}

/// The findings' rules with their questions about these traces, and their pages.
void add_explanations(const Analysis& analysis, const ThresholdSettings& thresholds,
                      std::vector<PageDocument>& documents) {
  std::vector<CatalogEntry> spoke;
  for (const CatalogEntry& entry : rule_catalog()) {
    const std::vector<Finding>& findings = analysis.diagnosis.findings;
    const bool is_found = std::any_of(findings.begin(), findings.end(),
                                      [&](const Finding& finding) { return finding.rule == entry.rule.id; });
    if (!is_found) continue;
    spoke.push_back(entry);
    documents.push_back({"explanation_" + std::string(entry.rule.id),
                         explanation_json(entry.rule, analysis.measurements, analysis.diagnosis)});
  }
  documents.push_back({"rules", rules_json(spoke, thresholds, /*with_pages=*/true)});
}

/// Report and timeline of the first recording of a side, under names that begin with `prefix`. Of a recording that is
/// gone, or a baseline, there is nothing to draw.
void add_side(const std::string& prefix, const std::vector<std::string>& paths, DiagnosisSetup setup,
              std::vector<PageDocument>& documents) {
  if (paths.empty()) return;
  const Result<std::vector<Run>> runs = list_recordings(paths.front());
  if (!runs || runs->empty()) return;
  setup.needed.measure.timeline = TimelineRequest();
  const Analysis analysis = diagnose_files(runs->front().files, setup);
  if (!analysis.has_readable_file()) return;
  documents.push_back({prefix + "report", OrderedJson::parse(render_json(analysis.measurements, analysis.diagnosis))});
  add_part({"timeline", 0}, prefix, analysis, documents);
}

}  // namespace

AnalysisOptions html_page_needs() {
  AnalysisOptions needs;
  needs.profile = true;
  needs.most_profiled_events = kMostProfiledEvents;
  needs.read.attribute_history = true;
  needs.largest_with_history = kLargestWithHistory;
  needs.measure.timeline = TimelineRequest();
  return needs;
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
  return before +
         (has_run || first.hosts.empty() ? host_name(first) : name_of_files(first) + " on " + host_name(first));
}

std::string render_diagnosis_html(const Analysis& analysis, const ThresholdSettings& thresholds) {
  std::vector<PageDocument> documents;
  documents.push_back({"report", OrderedJson::parse(render_json(analysis.measurements, analysis.diagnosis))});
  const bool has_profile = event_count(analysis.measurements) <= kMostProfiledEvents;
  for (const ShownPart& part : kParts) {
    if (has_profile || !part.needs_profile) add_part(part, {}, analysis, documents);
  }
  add_explanations(analysis, thresholds, documents);
  return render_html(std::move(documents), title_of_traces(analysis.measurements));
}

std::string render_comparison_html(OrderedJson comparison, OrderedJson history, const ComparedPaths& paths,
                                   const DiagnosisSetup& setup) {
  std::vector<PageDocument> documents;
  documents.push_back({"comparison", std::move(comparison)});
  if (!history.is_null()) documents.push_back({"history", std::move(history)});
  add_side("base_", paths.base, setup, documents);
  add_side("candidate_", paths.candidate, setup, documents);
  return render_html(std::move(documents), "Comparison");
}

std::string render_document_html(std::string_view name, const std::string& json, std::string_view title,
                                 const std::string& text) {
  std::vector<PageDocument> documents = {{std::string(name), OrderedJson::parse(json)}};
  if (!text.empty()) documents.push_back({"text", text});
  return render_html(std::move(documents), title);
}

}  // namespace doctor
