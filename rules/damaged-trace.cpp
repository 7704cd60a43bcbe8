#include <fmt/format.h>

#include <algorithm>

#include "diagnose/pipelines.h"
#include "text/numbers.h"

namespace doctor::rules::damaged_trace {
namespace {

/// "events_malformed" -> "events malformed".
std::string in_words(std::string reason) {
  std::replace(reason.begin(), reason.end(), '_', ' ');
  return reason;
}

Finding finding_for(const HostMeasurement& host) {
  Finding finding;
  std::string losses;
  for (const auto& [reason, count] : host.loss.counts) {
    losses += fmt::format("{}{}: {}", losses.empty() ? "" : ", ", in_words(reason), format_count(count));
    finding.evidence.push_back(number_of(reason, count));
  }
  finding.message =
      fmt::format("The trace is damaged ({}); {} could be read", losses, format_count(host.event_count, "event"));
  finding.advice.push_back(
      {"Record it again, or copy it again: a profile that is stopped properly and copied whole is complete. What is "
       "missing may change the verdict.",
       "tf.profiler.experimental.start(logdir)\n"
       "...  # about ten steps: a shorter window is a smaller file\n"
       "tf.profiler.experimental.stop()  # must be reached"});
  return finding;
}

RuleResult check(const RuleContext& context) {
  RuleResult result;
  const std::vector<HostMeasurement>& hosts = context.measurements.hosts;
  for (std::size_t index = 0; index < hosts.size(); ++index) {
    const HostMeasurement& host = hosts[index];
    Inquiry& inquiry = result.inquiries.emplace_back();
    Examiner examiner(context.thresholds, inquiry, context.keeps_questions);
    const std::string statement = "parts of " + name_of_files(host) + " are missing or could not be read";
    if (!examiner.holds(statement, !host.loss.complete())) continue;
    inquiry.has_finding = true;
    result.findings.push_back(finding_for(host));
    result.findings.back().host = index;
    if (hosts.size() > 1) result.findings.back().subject = name_of_files(host);
  }
  if (hosts.empty()) result.inquiries.emplace_back().missing = "no trace";
  return result;
}

}  // namespace

Rule rule() {
  return {.id = "damaged-trace",
          .summary = "Parts of the trace file are missing or could not be read",
          .follows = {references::kCollecting},
          .thresholds = {},
          .check = check};
}

}  // namespace doctor::rules::damaged_trace
