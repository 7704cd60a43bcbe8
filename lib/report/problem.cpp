#include "report/problem.h"

#include <filesystem>

#include "base/hash.h"
#include "report/json_values.h"

namespace doctor {
namespace {

bool has_problem(const ProblemReport& report, std::string_view rule) {
  return std::ranges::any_of(report.problems, [&](const Problem& problem) { return problem.rule == rule; });
}

std::size_t count_of(const ProblemReport& report, Severity severity) {
  return static_cast<std::size_t>(std::ranges::count_if(
      report.problems, [&](const Problem& problem) { return problem.severity == severity && !problem.suppressed; }));
}

namespace fs = std::filesystem;

constexpr std::string_view kStandardInput = "standard input";  // as the readers call it

/// "gs://bucket/file", "file:///file".
bool is_url(std::string_view path) {
  const std::size_t colon = path.find("://");
  return colon != std::string_view::npos && colon > 0 && path.find('/') > colon;
}

bool climbs(const fs::path& path) {
  return path.empty() || path == "." || path.is_absolute() || *path.begin() == "..";
}

}  // namespace

std::optional<ProblemLocation> location_in_repository(const SourceLine& line,
                                                      const std::optional<ProblemLocation>& source,
                                                      std::string_view working_directory) {
  const auto is_absolute = [](std::string_view path) { return path.starts_with('/'); };
  std::optional<std::string> path;
  if (is_absolute(line.file)) path = repository_path(line.file, working_directory);
  if (!path) path = repository_path(line.repository_file, working_directory);
  const bool is_name = line.file == file_name_of(line);
  if (!path && is_name && source && (source->path == line.file || source->path.ends_with("/" + line.file))) {
    path = source->path;
  }
  return path ? std::optional(ProblemLocation{*std::move(path), static_cast<std::size_t>(line.line)}) : std::nullopt;
}

void set_fingerprints(std::vector<Problem>& problems) {
  std::map<std::uint64_t, std::size_t> seen;
  for (Problem& problem : problems) {
    const std::uint64_t hash = fnv1a_64(problem.rule + '\n' + problem.identity);
    problem.fingerprint = fmt::format("{:016x}:{}", hash, ++seen[hash]);
  }
}

std::vector<const Problem*> shown_problems(const ProblemReport& report) {
  std::vector<const Problem*> shown;
  for (const Problem& problem : report.problems) {
    if (!problem.suppressed) shown.push_back(&problem);
  }
  return shown;
}

std::vector<const ProblemRule*> passed_rules(const ProblemReport& report) {
  std::vector<const ProblemRule*> passed;
  for (const ProblemRule& rule : report.rules) {
    const bool is_evaluated = std::ranges::none_of(
        report.not_evaluated, [&](const NotEvaluated& unevaluated) { return unevaluated.rule == rule.id; });
    if (is_evaluated && !has_problem(report, rule.id)) passed.push_back(&rule);
  }
  return passed;
}

std::vector<const NotEvaluated*> skipped_rules(const ProblemReport& report) {
  std::vector<const NotEvaluated*> skipped;
  for (const NotEvaluated& rule : report.not_evaluated) {
    if (!has_problem(report, rule.rule)) skipped.push_back(&rule);
  }
  return skipped;
}

bool spans_hosts(const ProblemReport& report) {
  return std::ranges::any_of(report.problems,
                             [&](const Problem& problem) { return problem.host != report.problems.front().host; });
}

std::string describe_place(const Problem& problem, bool with_host) {
  const bool names_host = with_host && !problem.host.empty() && problem.host != problem.subject;
  if (!names_host) return problem.subject;
  return problem.subject.empty() ? "host " + problem.host : problem.subject + " on " + problem.host;
}

std::string describe_evidence(const Problem& problem) {
  return joined(problem.evidence, ", ", [](const Evidence& item) {
    return fmt::format("{} {}", item.name, format_quantity(item.value, item.unit));
  });
}

std::string describe_counts(const ProblemReport& report) {
  std::string text;
  for (const Severity severity : {Severity::error, Severity::warning, Severity::note}) {
    const std::size_t count = count_of(report, severity);
    if (count > 0) text += (text.empty() ? "" : ", ") + format_count(count, to_word(severity));
  }
  if (text.empty()) text = "no problems";
  const std::size_t suppressed = report.problems.size() - shown_problems(report).size();
  return suppressed == 0 ? text : fmt::format("{}; {} suppressed", text, format_count(suppressed));
}

std::optional<std::string> repository_path(std::string_view path, std::string_view working_directory) {
  if (path.empty() || path == "-" || is_url(path) || path.ends_with('/')) return std::nullopt;
  fs::path relative = fs::path(path).lexically_normal();
  if (relative.is_absolute()) relative = relative.lexically_relative(fs::path(working_directory).lexically_normal());
  if (climbs(relative)) return std::nullopt;
  return relative.generic_string();
}

std::string trace_location(std::string_view path, std::string_view working_directory) {
  if (path.empty() || path == "-" || path == kStandardInput) return "standard-input";
  if (std::optional<std::string> relative = repository_path(path, working_directory)) return *std::move(relative);
  const std::string name = fs::path(path).filename().string();
  return name.empty() || name == "." || name == ".." ? "trace" : name;
}

}  // namespace doctor
