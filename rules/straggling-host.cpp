#include <fmt/format.h>

#include "diagnose/host_comparison.h"
#include "diagnose/pipelines.h"
#include "diagnose/user_code.h"
#include "text/numbers.h"

namespace doctor::rules::straggling_host {
namespace {

Finding finding_for(const RuleContext& context, const ComparedHost& host, std::size_t compared_count) {
  const RankedPipeline ranked = context.pipeline(*host.judgement);
  const bool is_pair = compared_count == 2;
  Finding finding;
  finding.severity = ranked.is_bound() ? Severity::warning : Severity::note;
  finding.subject = host.name;
  finding.host = host.host;
  finding.pipeline = host.judgement;
  finding.message = fmt::format(
      "This host waits {} in a GetNext call, {} {}; in synchronous training the whole job waits for it in every step",
      format_time(host.mean_wait), is_pair ? "the other one" : "the median of the other hosts is",
      format_time(host.mean_wait_of_others));
  if (ranked.has_culprit())
    finding.message += fmt::format(" (it waits for {})", describe(ranked.host, ranked.judgement.culprit));
  finding.evidence = {time_of("mean_wait", host.mean_wait), time_of("mean_wait_of_others", host.mean_wait_of_others),
                      share_of("input_share", host.input_share),
                      share_of("input_share_of_others", host.input_share_of_others),
                      number_of("hosts", compared_count)};
  finding.advice = {
      {{fmt::format("Look for what is different on {}", host.name),
        "Its disk and network, the files of its shard, other processes on its cores. The other hosts do not wait like "
        "this, so their input pipeline needs no change."},
       std::nullopt}};
  finding.at_stake =
      (host.mean_wait - host.mean_wait_of_others) * static_cast<Picoseconds>(ranked.pipeline.steady.call_count);
  return finding;
}

/// The questions that compare the hosts.
bool is_straggler(const ComparedHost& host, Examiner& examiner) {
  return examiner.holds(host.name + " waits for its input", host.level >= InputLevel::mild) &&
         examiner.at_least({"wait_ratio", host.wait_ratio(), "ratio"}, "min_ratio") &&
         examiner.at_least(share_of("share_above_others", host.share_above_others()), "min_share_above");
}

RuleResult check(const RuleContext& context) {
  if (context.measurements.hosts.size() < 2) {
    return for_trace(context, [&](Examiner& examiner) -> std::optional<Finding> {
      const bool has_others = !context.measurements.left_out.empty();
      if (examiner.holds("the run has several hosts", has_others)) examiner.misses("the other hosts were left out");
      return std::nullopt;
    });
  }
  RuleResult result;
  const HostComparison comparison = compare_hosts(context.measurements, context.judgement, context.thresholds);
  const bool has_hosts = comparison.is_possible() && !comparison.are_windows;
  if (!has_hosts) {
    result.inquiries.emplace_back().missing = comparison.are_windows
                                                  ? "the traces are windows of one host"
                                                  : "the calls of fewer than two hosts can be compared";
  }
  for (std::size_t index = 0; has_hosts && index < comparison.compared_count; ++index) {
    const ComparedHost& host = comparison.hosts[index];
    Inquiry& inquiry = result.inquiries.emplace_back();
    inquiry.pipeline = host.judgement;
    Examiner examiner(context.thresholds, inquiry, context.keeps_questions);
    inquiry.has_finding = is_straggler(host, examiner);
    if (inquiry.has_finding) result.findings.push_back(finding_for(context, host, comparison.compared_count));
  }
  return result;
}

}  // namespace

Rule rule() {
  return {.id = "straggling-host",
          .summary = "One host waits for its input much longer than the others, and holds the whole job up",
          .follows = {references::kMultiWorker},
          .thresholds = straggler_thresholds(),
          .check = check,
          .compares_hosts = true};
}

}  // namespace doctor::rules::straggling_host
