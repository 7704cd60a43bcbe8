#pragma once

#include <cstddef>
#include <string>

#include "report/problem.h"

namespace doctor {

// Documents for CI systems. None can fail; the same report gives the same bytes. Foreign text is escaped for each.

/// More results than GitHub's code scanning takes of one run (docs.github.com, "SARIF results exceed one or more
/// limits"). Those beyond are counted in a notification of the document.
inline constexpr std::size_t kMostSarifResults = 25'000;

/// Bytes of a Markdown document: GitHub refuses a comment of more than 65,536 characters; the rest is for the heading
/// that a workflow may put above it.
inline constexpr std::size_t kLongestMarkdown = 60'000;

/// SARIF 2.1.0 (OASIS) as GitHub's code scanning takes it: each result has a relative path, a line and a fingerprint.
/// Suppressed problems are results with `suppressions`.
std::string render_sarif(const ProblemReport& report);

/// JUnit XML: a test case for each problem (failed if it fails the command, else passed with its text), for each rule
/// that found nothing (passed) or was not evaluated (skipped), and one that is an error where there was nothing to
/// judge. Suppressed problems are skipped.
std::string render_junit(const ProblemReport& report);

/// GitLab's Code Quality report: a JSON array. Suppressed problems are left out.
std::string render_gitlab(const ProblemReport& report);

/// Workflow commands of GitHub Actions, a line each: the verdict as a notice, then an annotation for each problem.
/// Every line begins with "::". Suppressed problems are left out.
std::string render_github(const ProblemReport& report);

/// A comment or a job summary: the verdict, a table of the problems, what to do in foldable sections. At most
/// kLongestMarkdown bytes; says what was cut. Suppressed problems are counted.
std::string render_markdown(const ProblemReport& report);

}  // namespace doctor
