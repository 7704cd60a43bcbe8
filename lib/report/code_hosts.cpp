#include "report/json_values.h"
#include "report/problem.h"
#include "text/escape.h"
#include "words/throughput_words.h"

namespace doctor {
namespace {

constexpr std::string_view kLineBreak = "%0A";  // within the message of one command
constexpr std::size_t kTitleWidth = 120;        // the message has the whole name

std::string_view command_of(Severity severity) {
  using enum Severity;
  return word_of(severity, {{error, "error"}, {warning, "warning"}, {note, "notice"}});
}

std::string_view in_words(ProblemOutcome outcome) {
  using enum ProblemOutcome;
  return word_of(outcome, {{passed, "passed"}, {failed, "failed"}, {nothing_to_judge, "nothing to judge"}});
}

std::string annotation(const Problem& problem, bool with_host) {
  const std::string place = describe_place(problem, with_host);
  std::string title = problem.rule;
  if (!place.empty()) title += " in " + clipped(place, kTitleWidth);
  std::string line = fmt::format("::{} file={},line={},title={}::{}", command_of(problem.severity),
                                 escape_for_github_property(problem.location.path), problem.location.line,
                                 escape_for_github_property(title), escape_for_github(problem.message));
  if (!place.empty()) line.append(kLineBreak).append("in ").append(escape_for_github(place));
  if (!problem.advice.empty()) {
    line.append(kLineBreak).append(escape_for_github(problem.advice.front().text.whole()));
    const std::optional<Gain>& gain = problem.advice.front().gain;
    if (gain) line.append(kLineBreak).append(escape_for_github(describe_gain(*gain)));
  }
  return line + "\n";
}

/// GitLab's words are info, minor, major, critical and blocker.
std::string_view gitlab_severity(Severity severity) {
  using enum Severity;
  return word_of(severity, {{error, "critical"}, {warning, "major"}, {note, "info"}});
}

OrderedJson issue_json(const Problem& problem, bool with_host) {
  std::string description = problem.message;
  if (const std::string place = describe_place(problem, with_host); !place.empty()) description += " (" + place + ")";
  OrderedJson issue = {{"description", escape_for_terminal(description)},
                       {"check_name", problem.rule},
                       {"fingerprint", problem.fingerprint},
                       {"severity", gitlab_severity(problem.severity)}};
  issue["location"] = {{"path", escape_for_terminal(problem.location.path)}};
  issue["location"]["lines"] = {{"begin", problem.location.line}};
  return issue;
}

}  // namespace

std::string render_github(const ProblemReport& report) {
  std::string lines = fmt::format(
      "::notice title={}::{}: {}{}{}\n",
      escape_for_github_property("tfdata-doctor " + report.command + ": " + std::string(in_words(report.outcome))),
      report.verdict, escape_for_github(report.summary), kLineBreak, describe_counts(report));
  if (!report.settings_note.empty()) {
    lines += "::notice title=tfdata-doctor settings::" + escape_for_github(report.settings_note) + "\n";
  }
  const bool with_host = spans_hosts(report);
  for (const Problem* problem : shown_problems(report)) lines += annotation(*problem, with_host);
  return lines;
}

std::string render_gitlab(const ProblemReport& report) {
  const bool with_host = spans_hosts(report);
  return to_text(array_of(shown_problems(report), [&](const Problem* one) { return issue_json(*one, with_host); }));
}

}  // namespace doctor
