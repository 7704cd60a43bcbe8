#pragma once

#include <string>
#include <vector>

#include "pipeline.h"
#include "text/json_page.h"

namespace doctor {

/// The data that a page for a browser needs beyond a diagnosis: that of the pages of `show` on it.
AnalysisOptions html_page_needs();

/// A diagnosis as a page for a browser, with the pages of `show` for the same traces, and the reasons of each rule. The
/// analysis must be made with html_page_needs().
std::string render_diagnosis_html(const Analysis& analysis, const ThresholdSettings& thresholds);

/// The sides of a comparison, by the paths of what is drawn of them: their first recordings.
struct ComparedPaths {
  std::vector<std::string> base;  ///< as the user named them; recordings of a baseline have no trace to draw
  std::vector<std::string> candidate;
};

/// A comparison as such a page: the document of `compare`, and in `history` that of `baseline log`, null without a
/// baseline. The first recording of each side is read for its pipeline and its steps.
std::string render_comparison_html(OrderedJson comparison, OrderedJson history, const ComparedPaths& paths,
                                   const DiagnosisSetup& setup);

}  // namespace doctor
