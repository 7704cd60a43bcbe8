#include "report/json_values.h"
#include "report/problem.h"
#include "words/throughput_words.h"

namespace doctor {
namespace {

struct TestCases {
  std::map<std::string, std::size_t> names;  ///< how often each was used: equal ones would be taken for one test case
  std::size_t count = 0;
  std::size_t failures = 0;
  std::size_t errors = 0;
  std::size_t skipped = 0;
  std::string xml;
};

/// One test case: `attributes` and `body` are XML.
void add_case(TestCases& cases, const std::string& attributes, const std::string& body) {
  ++cases.count;
  cases.xml += "    <testcase " + attributes;
  cases.xml += body.empty() ? "/>\n" : ">" + body + "</testcase>\n";
}

/// `name="…" classname="…"`; the class is what reports group test cases by.
std::string name_attributes(const ProblemReport& report, std::string_view name, std::string_view part) {
  const std::string classname = "tfdata-doctor." + report.command + (part.empty() ? "" : ".") + std::string(part);
  return fmt::format("name=\"{}\" classname=\"{}\"", escape_for_xml(name), escape_for_xml(classname));
}

/// Message, evidence and advice, a line each.
std::string problem_text(const Problem& problem) {
  std::string text = escape_for_xml(problem.message) + "\n";
  if (!problem.subject.empty()) text += "in " + escape_for_xml(problem.subject) + "\n";
  if (!problem.host.empty()) text += "host " + escape_for_xml(problem.host) + "\n";
  if (!problem.evidence.empty()) text += "evidence: " + escape_for_xml(describe_evidence(problem)) + "\n";
  for (const Advice& advice : problem.advice) {
    text += "fix: " + escape_for_xml(advice.text.whole()) + "\n";
    const std::string code = advice.code.value_or("");
    for (const std::string_view line : split_lines(code)) {
      text += "    " + escape_for_xml(line) + "\n";
    }
    if (advice.gain) text += "    " + escape_for_xml(describe_gain(*advice.gain)) + "\n";
  }
  return text;
}

void add_problem(TestCases& cases, const ProblemReport& report, const Problem& problem) {
  std::string name = problem.subject.empty() ? problem.rule : problem.rule + " in " + problem.subject;
  if (const std::size_t number = ++cases.names[name]; number > 1) name += fmt::format(" ({})", number);
  const std::string attributes = fmt::format("{} file=\"{}\" line=\"{}\"", name_attributes(report, name, problem.rule),
                                             escape_for_xml(problem.location.path), problem.location.line);
  const std::string message = escape_for_xml(problem.message);
  if (problem.suppressed) {
    ++cases.skipped;
    add_case(cases, attributes,
             fmt::format("<skipped message=\"suppressed: {}\"/>", escape_for_xml(*problem.suppressed)));
  } else if (problem.fails) {
    ++cases.failures;
    add_case(cases, attributes,
             fmt::format("<failure message=\"{}\" type=\"{}\">{}</failure>", message, to_word(problem.severity),
                         problem_text(problem)));
  } else {
    add_case(cases, attributes, "<system-out>" + problem_text(problem) + "</system-out>");
  }
}

/// Whether there was anything to judge: a job without a verdict must not look like one that passed.
void add_verdict(TestCases& cases, const ProblemReport& report) {
  const std::string attributes = name_attributes(report, "verdict", {});
  const std::string summary = escape_for_xml(report.verdict + ": " + report.summary);
  if (report.outcome != ProblemOutcome::nothing_to_judge) {
    return add_case(cases, attributes, "<system-out>" + summary + "</system-out>");
  }
  ++cases.errors;
  add_case(cases, attributes, fmt::format("<error message=\"{}\" type=\"nothing to judge\"/>", summary));
}

std::string properties_of(const ProblemReport& report) {
  std::string properties = fmt::format("      <property name=\"sandbox\" value=\"{}\"/>\n", sandbox_word());
  if (!report.settings_note.empty()) {
    properties +=
        fmt::format("      <property name=\"settings\" value=\"{}\"/>\n", escape_for_xml(report.settings_note));
  }
  return "    <properties>\n" + properties + "    </properties>\n";
}

}  // namespace

std::string render_junit(const ProblemReport& report) {
  TestCases cases;
  add_verdict(cases, report);
  for (const Problem& problem : report.problems) add_problem(cases, report, problem);
  for (const ProblemRule* rule : passed_rules(report)) add_case(cases, name_attributes(report, rule->id, rule->id), {});
  for (const NotEvaluated* rule : skipped_rules(report)) {
    ++cases.skipped;
    add_case(cases, name_attributes(report, rule->rule, rule->rule),
             fmt::format("<skipped message=\"{}\"/>", escape_for_xml(rule->reason)));
  }
  const std::string counts =
      fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\"", cases.count, cases.failures, cases.errors);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"tfdata-doctor\" {}>\n"
      "  <testsuite name=\"tfdata-doctor {}\" {} skipped=\"{}\">\n{}{}  </testsuite>\n</testsuites>\n",
      counts, escape_for_xml(report.command), counts, cases.skipped, properties_of(report), cases.xml);
}

}  // namespace doctor
