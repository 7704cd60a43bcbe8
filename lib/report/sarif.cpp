#include "report/json_values.h"
#include "report/problem.h"

namespace doctor {
namespace {

OrderedJson message_json(std::string_view text) {
  return {{"text", escape_for_sarif(text)}};
}

/// The first paragraph of a rule's page below its title; empty if it has none.
std::string first_paragraph(const std::string& page) {
  const std::size_t title_end = page.find("\n\n");
  if (title_end == std::string::npos) return {};
  const std::size_t begin = title_end + 2;
  std::string paragraph = page.substr(begin, page.find("\n\n", begin) - begin);
  if (paragraph.starts_with('#')) return {};
  std::ranges::replace(paragraph, '\n', ' ');
  while (paragraph.ends_with(' ')) paragraph.pop_back();
  return paragraph;
}

/// "input-bound" -> "InputBound": Azure DevOps wants a name of this form.
std::string name_of(std::string_view id) {
  std::string name;
  bool is_start = true;
  for (const char c : id) {
    const bool is_letter = c >= 'a' && c <= 'z';
    if (c != '-') name += is_start && is_letter ? static_cast<char>(c - 'a' + 'A') : c;
    is_start = c == '-';
  }
  return name;
}

OrderedJson rule_json(const ProblemRule& rule) {
  const std::string description = first_paragraph(rule.page);
  OrderedJson json = {{"id", rule.id}, {"name", name_of(rule.id)}};
  json["shortDescription"] = message_json(rule.title);
  json["fullDescription"] = message_json(description.empty() ? rule.title : description);
  // The pages are ours, not foreign: their Markdown is kept.
  json["help"] = {{"text", rule.page.empty() ? rule.title : rule.page}};
  if (!rule.page.empty()) json["help"]["markdown"] = rule.page;
  if (!rule.url.empty()) json["helpUri"] = rule.url;
  json["defaultConfiguration"] = {{"level", to_word(rule.severity)}};
  json["properties"] = {{"tags", {"performance", "tf.data"}}};
  return json;
}

OrderedJson location_json(const Problem& problem) {
  OrderedJson location;
  location["physicalLocation"] = {
      {"artifactLocation", {{"uri", uri_of_path(problem.location.path)}, {"uriBaseId", "%SRCROOT%"}}},
      {"region", {{"startLine", problem.location.line}}},
  };
  if (!problem.subject.empty()) {
    location["logicalLocations"] = OrderedJson::array();
    location["logicalLocations"].push_back({{"fullyQualifiedName", escape_for_terminal(problem.subject)}});
  }
  return location;
}

/// What the schema has no place for.
OrderedJson properties_json(const Problem& problem) {
  OrderedJson properties = OrderedJson::object();
  if (!problem.pipeline.empty()) properties["pipeline"] = escape_for_terminal(problem.pipeline);
  if (!problem.host.empty()) properties["host"] = escape_for_terminal(problem.host);
  for (const Evidence& item : problem.evidence) {
    properties["evidence"].push_back({{"name", item.name}, {"value", item.value}, {"unit", item.unit}});
  }
  for (const Advice& item : problem.advice) {
    const OrderedJson code = or_null(item.code);
    properties["advice"].push_back(
        {{"text", item.text.whole()}, {"code", code}, {"gain", gain_json(item.gain, nullptr)}});
  }
  return properties;
}

OrderedJson result_json(const Problem& problem, std::size_t rule_index, bool with_host) {
  std::string text = problem.message;
  if (const std::string place = describe_place(problem, with_host); !place.empty()) text += " (" + place + ")";
  OrderedJson result = {{"ruleId", problem.rule}, {"ruleIndex", rule_index}, {"level", to_word(problem.severity)}};
  result["message"] = message_json(text + ".");
  result["locations"] = OrderedJson::array({location_json(problem)});
  // The first key is the one by which GitHub recognises an alert again.
  result["partialFingerprints"] = {{"primaryLocationLineHash", problem.fingerprint},
                                   {"tfdataDoctorProblem/v1", problem.fingerprint}};
  if (problem.suppressed) {
    OrderedJson suppression = {{"kind", "external"}, {"justification", escape_for_terminal(*problem.suppressed)}};
    result["suppressions"] = OrderedJson::array({std::move(suppression)});
  }
  if (OrderedJson properties = properties_json(problem); !properties.empty()) {
    result["properties"] = std::move(properties);
  }
  return result;
}

OrderedJson notification_json(const std::string& text, std::string_view level = "warning") {
  return {{"level", level}, {"message", message_json(text)}};
}

OrderedJson invocation_json(const ProblemReport& report) {
  OrderedJson invocation = {{"executionSuccessful", true}};
  OrderedJson notifications = OrderedJson::array();
  if (report.outcome == ProblemOutcome::nothing_to_judge) notifications.push_back(notification_json(report.summary));
  if (report.problems.size() > kMostSarifResults) {
    notifications.push_back(notification_json(format_count(report.problems.size() - kMostSarifResults, "problem") +
                                              " of " + format_count(report.problems.size()) +
                                              " left out: GitHub takes " + format_count(kMostSarifResults) + "."));
  }
  if (!notifications.empty()) invocation["toolExecutionNotifications"] = std::move(notifications);
  if (!report.settings_note.empty()) {
    invocation["toolConfigurationNotifications"] =
        OrderedJson::array({notification_json("Settings: " + report.settings_note, "note")});
  }
  return invocation;
}

/// Positions in the array of rules; a rule that the report does not list is added to it.
std::map<std::string, std::size_t> add_rules(const ProblemReport& report, OrderedJson& rules) {
  std::map<std::string, std::size_t> indices;
  const auto add = [&](const ProblemRule& rule) {
    if (indices.emplace(rule.id, rules.size()).second) rules.push_back(rule_json(rule));
  };
  for (const ProblemRule& rule : report.rules) add(rule);
  for (const Problem& problem : report.problems) add({problem.rule, problem.rule, {}, problem.severity});
  return indices;
}

}  // namespace

std::string render_sarif(const ProblemReport& report) {
  OrderedJson driver = tool_json();
  driver["properties"] = {{"sandbox", driver["sandbox"]}};  // SARIF's driver has no members of others
  driver.erase("sandbox");
  driver["rules"] = OrderedJson::array();
  const std::map<std::string, std::size_t> indices = add_rules(report, driver["rules"]);
  OrderedJson run;
  run["tool"]["driver"] = std::move(driver);
  run["automationDetails"] = {{"id", "tfdata-doctor/" + report.command + "/"}};
  run["invocations"] = OrderedJson::array({invocation_json(report)});
  run["columnKind"] = "utf16CodeUnits";
  run["results"] = OrderedJson::array();
  const bool with_host = spans_hosts(report);
  const std::size_t count = std::min(report.problems.size(), kMostSarifResults);
  for (std::size_t index = 0; index < count; ++index) {
    const Problem& problem = report.problems[index];
    run["results"].push_back(result_json(problem, indices.at(problem.rule), with_host));
  }
  run["properties"] = {{"verdict", report.verdict}, {"summary", escape_for_terminal(report.summary)}};
  OrderedJson page = {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"}, {"version", "2.1.0"}};
  page["runs"] = OrderedJson::array({std::move(run)});
  return to_text(page);
}

}  // namespace doctor
