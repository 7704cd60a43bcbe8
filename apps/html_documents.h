#pragma once

#include <string>
#include <vector>

#include "pipeline.h"
#include "text/json_page.h"

namespace doctor {

/// What a page for a browser about a diagnosis needs beyond it: what the pages of `show` need that it shows.
AnalysisOptions html_page_needs();

/// A diagnosis as a page for a browser, with what `show` says of the same traces and why each rule spoke. The analysis
/// was made with html_page_needs().
std::string render_diagnosis_html(const Analysis& analysis, const ThresholdSettings& thresholds);

/// The sides of a comparison with what is drawn of them: their first recordings, as they are.
struct ComparedPaths {
  std::vector<std::string> base;  ///< as the user named them; those of a baseline have no trace that could be drawn
  std::vector<std::string> candidate;
};

/// A comparison as such a page: what `compare` prints, and in `history` what `baseline log` does, null without a
/// baseline; the first recording of each side is read for its pipeline and its steps.
std::string render_comparison_html(OrderedJson comparison, OrderedJson history, const ComparedPaths& paths,
                                   const DiagnosisSetup& setup);

}  // namespace doctor
