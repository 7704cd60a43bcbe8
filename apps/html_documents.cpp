#include "html_documents.h"

#include <algorithm>
#include <array>

#include "diagnose/catalog.h"
#include "io/trace_inputs.h"
#include "pages.h"
#include "report/html/html_page.h"
#include "report/report.h"
#include "report/rule_pages.h"
#include "report/selection.h"

namespace doctor {
namespace {

/// A page of `show` that is part of the page, and how many of its rows.
struct ShownPart {
  std::string_view page;
  std::size_t top;
  bool needs_profile = false;
  bool needs_hosts = false;  ///< is drawn of several hosts alone
};

constexpr std::uint64_t kLargestWithHistory = 256'000'000;

// As many rows as a person looks at: the page stays small, however long the trace is.
constexpr std::array<ShownPart, 7> kParts = {{{"timeline", 0},
                                              {"steps", kMostOfList, true},
                                              {"autotune", 0},
                                              {"ops", 25, true},
                                              {"kernels", 25},
                                              {"memory", 25, true},
                                              {"hosts", 100, true, true}}};

/// A trace that has nothing of it gets no such part.
void add_part(const ShownPart& part, const std::string& prefix, const Analysis& analysis,
              std::vector<PageDocument>& documents) {
  ShowOptions options;
  options.top = part.top;
  Result<OrderedJson> document = find_page(part.page)->document(options, analysis);
  if (document) documents.push_back({prefix + std::string(part.page), *std::move(document)});
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
  documents.push_back({prefix + "report", report_json(analysis.measurements, analysis.diagnosis)});
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

std::string render_diagnosis_html(const Analysis& analysis, const ThresholdSettings& thresholds) {
  std::vector<PageDocument> documents;
  documents.push_back({"report", report_json(analysis.measurements, analysis.diagnosis)});
  const bool has_profile = event_count(analysis.measurements) <= kMostProfiledEvents;
  const bool has_hosts = analysis.measurements.hosts.size() > 1;
  for (const ShownPart& part : kParts) {
    const bool has_all = (has_profile || !part.needs_profile) && (has_hosts || !part.needs_hosts);
    if (has_all) add_part(part, {}, analysis, documents);
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

}  // namespace doctor
