#include <algorithm>

#include "analysis.h"
#include "command_line/option_values.h"
#include "commands.h"
#include "diagnose/whatif.h"
#include "process/exit_code.h"
#include "process/output.h"
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

std::string whatif_page(const WhatIfView& view, OutputFormat format, const TextStyle& style) {
  switch (format) {
    case OutputFormat::json:
      return render_whatif_json(view);
    case OutputFormat::csv:
      return render_whatif_csv(view);
    case OutputFormat::markdown:
      return render_whatif_markdown(view);
    default:
      return render_whatif_text(view, style);
  }
}

}  // namespace

int run_whatif(const Request& request) {
  const Result<ReadingOptions> reading = reading_options_with_traces(request);
  if (!reading) return fail_with(reading.error());
  const Result<OutputOptions> output =
      output_options(request, {OutputFormat::text, OutputFormat::json, OutputFormat::csv, OutputFormat::markdown});
  if (!output) return fail_with(output.error());
  const WhatIfRequest wanted = whatif_request(request);
  const double min_gain = parse_factor(request.text("min-gain")).value_or(kLeastGain);

  AnalysisOptions needed;
  // A diagnosis makes do with the first part of a window.
  needed.measure.most_cycle_rows = 400'000;
  std::vector<HostPredictions> hosts;
  const auto render = [&](const Analysis& analysis, OutputFormat format) -> Result<std::string> {
    Result<std::vector<HostPredictions>> predicted = predict_fixes(analysis.measurements, analysis.diagnosis, wanted);
    if (!predicted) return Unexpected(predicted.error());
    hosts = *std::move(predicted);
    return whatif_page({analysis.measurements, analysis.diagnosis, hosts, wanted, min_gain}, format,
                       style_of(*output, reading->traces));
  };
  const auto judge = [&](const Analysis&) {
    const auto has_model = [](const HostPredictions& host) { return host.why_none.empty(); };
    return std::any_of(hosts.begin(), hosts.end(), has_model) ? kExitClean : kExitNothing;
  };
  return run_page(*reading, *output, {needed, {}, render, judge});
}

}  // namespace doctor
