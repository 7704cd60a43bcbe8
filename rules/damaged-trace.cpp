#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "diagnose/pipelines.h"
#include "diagnose/recording.h"
#include "text/numbers.h"

namespace doctor::rules::damaged_trace {
namespace {

/// "events_malformed" -> "events malformed".
std::string in_words(std::string reason) {
  std::replace(reason.begin(), reason.end(), '_', ' ');
  return reason;
}

/// What the limits of the profiler left out; empty if they did not.
std::string describe_limits(const HostMeasurement& host) {
  const bool is_cut = host.loss.counts.contains(std::string(kCutByProfiler));
  const bool is_empty = host.loss.counts.contains(std::string(kEmptyXSpace));
  std::string words;
  if (is_cut) {
    words = "The profiler wrote only the first " + format_count(host.event_count, "event");
    if (!is_empty) return words + "; the .xplane.pb beside it is whole";
    words += ". ";
  }
  if (is_empty) {
    words += "The .xplane.pb beside this file is empty, as the profiler leaves it where it would have more than 2 GB";
  }
  return words;
}

Advice advice_on_limits(const HostMeasurement& host) {
  if (!host.loss.counts.contains(std::string(kEmptyXSpace))) {
    return {{"Diagnose the .xplane.pb of the recording", "It has all events. Or record fewer steps."},
            "tfdata-doctor logs/plugins/profile/RUN/HOST.xplane.pb"};
  }
  return {{"Record fewer steps, or leave out Python's frames", "These are most of the events."},
          host.framework == "JAX" ? "options = jax.profiler.ProfileOptions()\n"
                                    "options.python_tracer_level = 0\n"
                                    "jax.profiler.start_trace(logdir, profiler_options=options)"
                                  : "options = tf.profiler.experimental.ProfilerOptions(python_tracer_level=0)\n"
                                    "tf.profiler.experimental.start(logdir, options)"};
}

Finding finding_for(const HostMeasurement& host) {
  Finding finding;
  std::string losses;
  for (const auto& [reason, count] : host.loss.counts) {
    finding.evidence.push_back(number_of(reason, count));
    if (reason == kCutByProfiler || reason == kEmptyXSpace) continue;
    losses += fmt::format("{}{}: {}", losses.empty() ? "" : ", ", in_words(reason), format_count(count));
  }
  finding.message = describe_limits(host);
  if (!finding.message.empty()) finding.advice.push_back(advice_on_limits(host));
  if (losses.empty()) return finding;
  if (!finding.message.empty()) finding.message += ". ";
  finding.message +=
      fmt::format("The trace is damaged ({}); {} could be read", losses, format_count(host.event_count, "event"));
  finding.advice.push_back(
      {{"Record it again, or copy it again",
        "A profile that is stopped properly and copied whole is complete. What is missing may change the verdict."},
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
