// A trace of any kind through all that is made of it: tree, measurements, rules, model, and every page and document.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "diagnose/budgets.h"
#include "diagnose/whatif.h"
#include "documents.h"
#include "fuzz_analysis.h"
#include "fuzz_traces.h"
#include "pages.h"
#include "report/diagnosis_problems.h"
#include "report/explanation_page.h"
#include "report/report.h"
#include "report/whatif_page.h"

namespace {

using namespace doctor;

/// Made once: an execution is to cost what its input costs.
const std::vector<CatalogEntry>& catalog() {
  static const std::vector<CatalogEntry> entries = rule_catalog();
  return entries;
}

void expect_in_format(const std::string& page, OutputFormat format) {
  const bool is_json = format == OutputFormat::json || format == OutputFormat::sarif || format == OutputFormat::gitlab;
  if (is_json) {
    expect_json(page);
  } else if (format == OutputFormat::junit) {
    expect_xml(page);
  } else if (format == OutputFormat::html) {
    expect_html(page);
  } else {
    expect_clean_text(page);
  }
}

void render_reports(const Analysis& analysis, FuzzBytes& bytes) {
  TextStyle style;
  style.detail = static_cast<Detail>(bytes.below(3));
  if (bytes.flip()) style.width = 40 + bytes.byte();
  expect_clean_text(render_text(analysis.measurements, analysis.diagnosis, style));
  expect_json(render_json(analysis.measurements, analysis.diagnosis));
  expect_clean_text(render_prometheus(analysis.measurements, analysis.diagnosis));
}

void render_problems_for_ci(const Analysis& analysis, FuzzBytes& bytes) {
  ProblemContext context;
  context.catalog = catalog();
  if (bytes.flip()) context.source = ProblemLocation{"src/input.py", 3};
  context.working_directory = "/home/me";
  const ProblemReport problems = problems_of(analysis.measurements, analysis.diagnosis, context);
  for (const OutputFormat format :
       {OutputFormat::sarif, OutputFormat::junit, OutputFormat::gitlab, OutputFormat::github, OutputFormat::markdown}) {
    expect_in_format(render_problems(problems, format).value_or(""), format);
  }
}

void show(const Page& page, const Analysis& analysis, FuzzBytes& bytes) {
  ShowOptions options;
  constexpr std::array kFormats = {OutputFormat::text, OutputFormat::json, OutputFormat::csv};
  options.format = kFormats[bytes.below(page.has_csv ? 3 : 2)];
  const unsigned choice = bytes.byte();
  if ((choice & 1U) != 0) options.call = 1 + choice / 64;
  if ((choice & 2U) != 0) options.step = choice / 64;
  if ((choice & 4U) != 0) options.top = choice / 32;
  options.by_type = (choice & 8U) != 0;
  options.with_idle = (choice & 16U) != 0;
  options.by_step = (choice & 32U) != 0;
  const Result<std::string> shown = page.render(options, analysis);
  if (shown) expect_in_format(*shown, options.format);
}

void predict(const Analysis& analysis, FuzzBytes& bytes) {
  WhatIfRequest request;
  request.wants_plan = bytes.flip();
  if (bytes.flip()) request.cores = bytes.byte() + 1;
  request.consumer_factor = bytes.flip() ? 1 + bytes.byte() / 8.0 : 1;
  const Result<std::vector<HostPredictions>> hosts = predict_fixes(analysis.measurements, analysis.diagnosis, request);
  if (!hosts) return;
  const WhatIfView view = {analysis.measurements, analysis.diagnosis, *hosts, request};
  expect_clean_text(render_whatif_text(view, {}));
  expect_json(render_whatif_json(view));
  expect_clean_text(render_whatif_csv(view));
  expect_clean_text(render_whatif_markdown(view));
}

void explain(const Analysis& analysis, FuzzBytes& bytes) {
  const Rule& rule = catalog()[bytes.below(catalog().size())].rule;
  expect_clean_text(render_explanation_text(rule, analysis.measurements, analysis.diagnosis, {}));
  expect_json(render_explanation_json(rule, analysis.measurements, analysis.diagnosis));
}

}  // namespace

// The first byte says what is made of the trace, so that an execution is short and each way is tried by itself.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzBytes bytes(data, size);
  const unsigned way = bytes.below(16);
  FuzzBytes choices(data + std::min<std::size_t>(size, 1),
                    std::min<std::size_t>(size, 5) - std::min<std::size_t>(size, 1));
  static_cast<void>(bytes.text(4));
  const FuzzFile file(fuzzed_trace(bytes));
  const Analysis analysis = fuzz_analysis({file.path()});
  if (way < 3) {
    render_reports(analysis, choices);
  } else if (way < 5) {
    render_problems_for_ci(analysis, choices);
  } else if (way < 6) {
    expect_html(render_diagnosis_html(analysis, {}));
  } else if (way < 12) {
    show(pages()[choices.below(pages().size())], analysis, choices);
  } else if (way < 14) {
    predict(analysis, choices);
  } else {
    explain(analysis, choices);
  }
  return 0;
}
