#include "command_line/option_values.h"
#include "commands.h"
#include "io/trace_inputs.h"
#include "report/html/html_page.h"
#include "report/whatif_page.h"

namespace doctor {
namespace {

WhatIfRequest whatif_request(const Request& request) {
  WhatIfRequest wanted;
  for (const GivenValue& fix : request.values.all("fix")) wanted.fixes.push_back(fix.text);
  wanted.wants_plan = request.is_set("plan");
  if (const std::optional<std::size_t> cores = request.number("cores"))
    wanted.cores = static_cast<std::int64_t>(*cores);
  wanted.consumer_factor = parse_factor(request.text("consumer")).value_or(1);
  return wanted;
}

/// The ceiling that --ideal names: a recording or a folder of several. Errors: one that cannot be read, or that shows
/// no steps.
Result<IdealRun> read_ideal(const std::string& path, const ReadingOptions& reading, const OutputOptions& output) {
  ASSIGN_OR_RETURN(const std::vector<Run> runs, list_recordings(path));
  SandboxNeeds needs = {.inputs = reading.files.value_or(std::vector<std::string>()), .outputs = paths_of(output)};
  for (const Run& run : runs) needs.inputs.insert(needs.inputs.end(), run.files.begin(), run.files.end());
  RETURN_IF_ERROR(enter_sandbox(reading.sandbox, needs));
  DiagnosisSetup setup = reading.setup;
  setup.rules = {};
  std::vector<IdealRate> rates;
  for (const Run& run : runs) {
    RETURN_IF_ERROR(check_outputs(output.targets, run.files));
    const Analysis analysis = diagnose_watched(run.files, setup, output.quiet);
    if (!analysis.unreadable.empty()) return Unexpected(analysis.unreadable.front());
    const std::optional<IdealRate> rate = ideal_rate(analysis.measurements);
    if (!rate) return Unexpected(no_ideal_steps(run.directory));
    rates.push_back(*rate);
  }
  return ideal_run(path, rates);
}

/// The ceiling, if one was asked for; then the files of the traces are known, too. Errors: those of read_ideal(); it
/// was measured on another machine than is asked about.
Result<std::optional<IdealRun>> ideal_of(const Request& request, const WhatIfRequest& wanted, ReadingOptions& reading,
                                         const OutputOptions& output) {
  const std::optional<std::string> path = request.given("ideal");
  if (!path) return std::nullopt;
  if (wanted.is_changed()) {
    return fail("is a ceiling of the machine as it is", "--ideal", "leave out --cores and --consumer");
  }
  // Of the traces, too, before the sandbox is entered.
  ASSIGN_OR_RETURN(reading.files, resolve_inputs(reading.traces, reading.run));
  RETURN_IF_ERROR(limit_memory(reading.max_memory));
  ASSIGN_OR_RETURN(IdealRun ideal, read_ideal(*path, reading, output));
  return ideal;
}

constexpr std::array<FormatRow<std::string(const WhatIfView& view, const TextStyle& style)>, 5> kWhatifFormats = {
    {{OutputFormat::text, render_whatif_text},
     {OutputFormat::json, [](const WhatIfView& view, const TextStyle&) { return to_text(whatif_json(view)); }},
     {OutputFormat::html,
      [](const WhatIfView& view, const TextStyle&) {
        return render_document_html("whatif", whatif_json(view), title_of_traces(view.measurements));
      }},
     {OutputFormat::csv, [](const WhatIfView& view, const TextStyle&) { return render_whatif_csv(view); }},
     {OutputFormat::markdown, render_whatif_markdown}}};

}  // namespace

std::vector<OutputFormat> whatif_formats() {
  return formats_in(kWhatifFormats);
}

Result<int> run_whatif(const Request& request) {
  ASSIGN_OR_RETURN(ReadingOptions reading, reading_options_with_traces(request));
  ASSIGN_OR_RETURN(const OutputOptions output, output_options(request));
  const WhatIfRequest wanted = whatif_request(request);
  const double min_gain = parse_factor(request.text("min-gain")).value_or(kLeastGain);

  ASSIGN_OR_RETURN(const std::optional<IdealRun> ideal, ideal_of(request, wanted, reading, output));
  const IdealRun* const ceiling = ideal ? &*ideal : nullptr;

  std::vector<HostPredictions> hosts;
  const auto render = [&](const Analysis& analysis, OutputFormat format) -> Result<std::string> {
    WhatIfRequest of_format = wanted;
    of_format.wants_curve = format == OutputFormat::json || format == OutputFormat::html;
    ASSIGN_OR_RETURN(hosts, predict_fixes(analysis.measurements, analysis.diagnosis, of_format));
    const WhatIfView view = {analysis.measurements, analysis.diagnosis, hosts, of_format, min_gain, ceiling};
    return row_of(kWhatifFormats, format).render(view, style_of(output, reading.traces));
  };
  const auto judge = [&](const Analysis&) {
    const auto has_model = [](const HostPredictions& host) { return !host.why_none; };
    return std::ranges::any_of(hosts, has_model) ? kExitClean : kExitNothing;
  };
  return run_page(reading, output, {{}, {}, render, judge});
}

}  // namespace doctor
