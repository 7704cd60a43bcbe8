#include "report/problem.h"
#include "text/escape.h"

namespace doctor {
namespace {

/// GitLab's words are info, minor, major, critical and blocker.
std::string_view gitlab_severity(Severity severity) {
  using enum Severity;
  static constexpr auto kWords =
      std::to_array<SchemaWord<Severity>>({{error, "critical"}, {warning, "major"}, {note, "info"}});
  return word_in(kWords, severity);
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

std::string render_gitlab(const ProblemReport& report) {
  const bool with_host = spans_hosts(report);
  return to_text(array_of(shown_problems(report), [&](const Problem* one) { return issue_json(*one, with_host); }));
}

}  // namespace doctor
