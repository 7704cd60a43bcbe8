// A trace of any kind through all that is made of it: tree, measurements, rules, model, and every page and document.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "commands.h"
#include "diagnose/budgets.h"
#include "diagnose/whatif.h"
#include "documents.h"
#include "fuzz_analysis.h"
#include "fuzz_directory.h"
#include "fuzz_traces.h"
#include "report/problem.h"
#include "report/report.h"
#include "report/rule_pages.h"
#include "report/whatif_page.h"

namespace {

using namespace doctor;

/// Made once: an execution is to cost what its input costs.
const std::vector<CatalogEntry>& catalog() {
  static const std::vector<CatalogEntry> entries = rule_catalog();
  return entries;
}

void render_reports(const Analysis& analysis, unsigned which, FuzzBytes& bytes) {
  TextStyle style;
  style.detail = static_cast<Detail>(bytes.below(3));
  if (bytes.flip()) style.width = 40 + bytes.byte();
  if (which < 8) return expect_clean_text(render_text(analysis.measurements, analysis.diagnosis, style));
  if (which < 14) return expect_json(render_json(analysis.measurements, analysis.diagnosis));
  expect_clean_text(render_prometheus(analysis.measurements, analysis.diagnosis));
}

void render_problems_for_ci(const Analysis& analysis, unsigned which, FuzzBytes& bytes) {
  ProblemContext context;
  context.catalog = catalog();
  if (bytes.flip()) context.source = ProblemLocation{"src/input.py", 3};
  context.working_directory = "/home/me";
  const ProblemReport problems = problems_of(analysis.measurements, analysis.diagnosis, context);
  constexpr std::array kFormats = {OutputFormat::junit, OutputFormat::gitlab, OutputFormat::github,
                                   OutputFormat::markdown, OutputFormat::sarif};
  const OutputFormat format = kFormats[which % kFormats.size()];
  expect_in_format(render_problems(problems, format).value_or(""), format);
}

ShowOptions show_options(FuzzBytes& bytes) {
  ShowOptions options;
  const unsigned choice = bytes.byte();
  if ((choice & 1U) != 0) options.call = 1 + choice / 64;
  if ((choice & 2U) != 0) options.step = choice / 64;
  if ((choice & 4U) != 0) options.top = choice / 32;
  options.by_type = (choice & 8U) != 0;
  options.with_idle = (choice & 16U) != 0;
  options.by_step = (choice & 32U) != 0;
  return options;
}

void show(const std::string& file, FuzzBytes& bytes) {
  const Page& page = *pages()[bytes.below(pages().size())];
  std::vector<OutputFormat> formats = page_formats(page);
  std::erase(formats, OutputFormat::html);  // drawn from the JSON
  const OutputFormat format = formats[bytes.below(formats.size())];
  const ShowOptions options = show_options(bytes);
  const Analysis analysis = fuzz_analysis(file, page.needs(options));
  const Result<std::string> shown = render_page(page, format, {analysis.measurements, analysis.diagnosis, options});
  if (shown) expect_in_format(*shown, format);
}

void predict(const Analysis& analysis, unsigned which, FuzzBytes& bytes) {
  WhatIfRequest request;
  request.wants_plan = bytes.flip();
  if (bytes.flip()) request.cores = bytes.byte() + 1;
  request.consumer_factor = bytes.flip() ? 1 + bytes.byte() / 8.0 : 1;
  const Result<std::vector<HostPredictions>> hosts = predict_fixes(analysis.measurements, analysis.diagnosis, request);
  if (!hosts) return;
  const WhatIfView view = {analysis.measurements, analysis.diagnosis, *hosts, request};
  if (which % 4 == 0) return expect_clean_text(render_whatif_text(view, {}));
  if (which % 4 == 1) return expect_json(to_text(whatif_json(view)));
  if (which % 4 == 2) return expect_clean_text(render_whatif_csv(view));
  expect_clean_text(render_whatif_markdown(view));
}

void explain(const Analysis& analysis, unsigned which, FuzzBytes& bytes) {
  const Rule& rule = catalog()[bytes.below(catalog().size())].rule;
  if (which < 8) {
    return expect_clean_text(render_explanation_text(rule, analysis.measurements, analysis.diagnosis, {}));
  }
  expect_json(to_text(explanation_json(rule, analysis.measurements, analysis.diagnosis)));
}

/// The trace in a folder with the lines of names that the grammar gives to datasets.
std::string beside_source_lines(const std::string& trace) {
  static const FuzzDirectory directory;
  static const bool is_written = [] {
    directory.write("dataset-lines.json",
                    R"({"schema":"tfdata-doctor.lines/1","names":{"at_input_py_L33_map":{"file":"input.py","line":33},)"
                    R"("train":{"file":"a/<b>.py","line":1,"function":"\u001b[31m|`","call":"map"},)"
                    R"("float32":{"file":"::error::x\n=1+1","line":2147483647}}})");
    return true;
  }();
  static_cast<void>(is_written);
  return directory.write("trace", trace).string();
}

}  // namespace

// The first byte says what is made of the trace and as which document, so that an execution is short and each way is
// tried by itself; the fourth byte after it whether a file with the lines of a program lies beside the trace. A page
// for a browser takes as long as ten others, and has the most to be seen by the fuzzer, so chance makes one of each
// hundred.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzBytes bytes(data, size);
  const unsigned first = bytes.byte();
  const unsigned way = first % 16;
  const unsigned which = first / 16;
  const std::string_view chosen = bytes.text(4);
  FuzzBytes choices(chosen);
  const std::string trace = fuzzed_trace(bytes);
  const bool has_lines = chosen.size() == 4 && chosen.back() >= 112;
  const FuzzFile alone(has_lines ? std::string_view() : trace);
  const std::string file = has_lines ? beside_source_lines(trace) : alone.path();
  if (fnv1a_64({reinterpret_cast<const char*>(data), size}) % 100 == 0) {
    expect_html(render_diagnosis_html(fuzz_analysis(file, html_page_needs()), {}));
  } else if (way < 4) {
    render_reports(fuzz_analysis(file), which, choices);
  } else if (way < 6) {
    render_problems_for_ci(fuzz_analysis(file), which, choices);
  } else if (way < 12) {
    show(file, choices);
  } else if (way < 14) {
    predict(fuzz_analysis(file), which, choices);
  } else {
    explain(fuzz_analysis(file), which, choices);
  }
  return 0;
}
