#include <fmt/format.h>

#include "report/problem.h"
#include "text/escape.h"
#include "text/numbers.h"
#include "words/throughput_words.h"

namespace doctor {
namespace {

// Texts that are longer lose their middle: a name may be as long as a trace makes it.
constexpr std::size_t kLongestCell = 300;
constexpr std::size_t kLongestText = 2'000;
constexpr std::size_t kLongestCodeLine = 400;
constexpr std::size_t kReserve = 300;  // bytes for the sentence on what was cut
constexpr std::size_t kMostNotes = 12;

std::string text(std::string_view foreign, std::size_t longest = kLongestText) {
  return escape_for_markdown(clipped(foreign, longest));
}

std::string code(std::string_view foreign) {
  return markdown_code(clipped(foreign, kLongestCell));
}

/// A check mark, a cross, or a grey circle where nothing was judged.
std::string_view sign_of(ProblemOutcome outcome) {
  using enum ProblemOutcome;
  return outcome == passed ? "\u2705" : outcome == failed ? "\u274C" : "\u26AA";
}

std::string heading(const ProblemReport& report) {
  const std::string title = report.title.empty() ? "tfdata-doctor " + report.command : report.title;
  return fmt::format("### {} {}: {}\n\n{}\n\n", sign_of(report.outcome), title, text(report.verdict),
                     text(report.summary));
}

std::string next_steps(const ProblemReport& report) {
  const std::string list = joined(report.next, "", [](const ProblemReport::NextStep& step) {
    return fmt::format("- {}{}\n", step.words, step.command.empty() ? "" : ": " + code(step.command));
  });
  return list.empty() ? list : list + "\n";
}

std::string table_row(const Problem& problem, bool with_host) {
  const std::string place = describe_place(problem, with_host);
  const std::string where = place.empty() ? std::string("the run") : code(place);
  return fmt::format("| {} | {} | {} | {} |\n", to_word(problem.severity), code(problem.rule), where,
                     text(problem.message, kLongestCell));
}

/// A foldable section: what was measured, what to do.
std::string details_of(const Problem& problem) {
  const std::string subject = clipped(problem.subject, kLongestCell);
  std::string section = fmt::format("<details><summary><code>{}</code>{}</summary>\n\n", escape_for_xml(problem.rule),
                                    subject.empty() ? "" : " in <code>" + escape_for_xml(subject) + "</code>");
  section += text(problem.message) + "\n\n";
  if (!problem.host.empty()) section += "- host: " + code(problem.host) + "\n";
  for (const Evidence& item : problem.evidence) {
    section += fmt::format("- {}: {}\n", text(item.name), text(format_quantity(item.value, item.unit)));
  }
  if (!problem.host.empty() || !problem.evidence.empty()) section += "\n";
  for (const Advice& advice : problem.advice) {
    section += text(advice.text.whole()) + "\n\n";
    if (advice.code) section += markdown_code_block(*advice.code, kLongestCodeLine);
    if (advice.gain) section += text(describe_gain(*advice.gain)) + "\n\n";
  }
  return section + "</details>\n\n";
}

/// The parts that fit into `budget` bytes, in order, up to the first that does not.
template <typename Render>
std::string as_many_as_fit(const std::vector<const Problem*>& problems, std::size_t budget, std::size_t& shown,
                           const Render& render) {
  std::string parts;
  for (shown = 0; shown < problems.size(); ++shown) {
    const std::string part = render(*problems[shown]);
    if (parts.size() + part.size() > budget) break;
    parts += part;
  }
  return parts;
}

/// Lines of characters as indented code, which nothing in a line can end.
std::string picture_of(const ProblemReport& report) {
  const std::string block = joined(
      report.picture, "", [](const std::string& line) { return "    " + clipped(line, kLongestCodeLine) + "\n"; });
  return block.empty() ? block : block + "\n";
}

/// "Cut to fit: …"; empty where nothing was cut.
std::string cut_sentence(std::size_t count, std::size_t in_table, std::size_t with_details) {
  if (with_details == count) return {};
  std::string sentence = fmt::format("Cut to fit into a comment: {} without details", count - with_details);
  if (in_table < count) sentence += fmt::format(", {} of them not in the table either", count - in_table);
  return sentence + ". `--format json` has them all.\n\n";
}

/// "28 rules found nothing; 3 could not be evaluated."
std::string rules_sentence(const ProblemReport& report) {
  const std::size_t passed = passed_rules(report).size();
  const std::size_t skipped = skipped_rules(report).size();
  std::string sentence = fmt::format("{} found nothing", format_count(passed, "rule"));
  if (skipped > 0) sentence += fmt::format(", {} could not be evaluated", format_count(skipped));
  return sentence + ".";
}

/// The table of problems, then the details of each, as many as fit in beside `last`.
std::string problem_list(const ProblemReport& report, const std::vector<const Problem*>& problems, std::size_t taken) {
  if (problems.empty()) return {};
  std::string list = "| severity | rule | where | what |\n|---|---|---|---|\n";
  const std::size_t budget = kLongestMarkdown - kReserve - taken - list.size();
  const bool with_host = spans_hosts(report);
  std::size_t in_table = 0;
  std::size_t with_details = 0;
  // Half of the room at most, so that the gravest problems have their details.
  list += as_many_as_fit(problems, budget / 2, in_table,
                         [&](const Problem& problem) { return table_row(problem, with_host); }) +
          "\n";
  list += as_many_as_fit(problems, kLongestMarkdown - kReserve - taken - list.size(), with_details, details_of);
  return list + cut_sentence(problems.size(), in_table, with_details);
}

/// Counts, rules, notes and settings.
std::string last_lines(const ProblemReport& report) {
  std::string last =
      fmt::format("{}. {} `{}` says more.\n", describe_counts(report), rules_sentence(report), report.explanation);
  for (std::size_t index = 0; index < std::min(kMostNotes, report.notes.size()); ++index) {
    last += "\nNote: " + text(report.notes[index], kLongestCell) + "\n";
  }
  if (!report.settings_note.empty()) last += "\nSettings: " + text(report.settings_note, kLongestCell) + "\n";
  return last;
}

}  // namespace

std::string render_markdown(const ProblemReport& report) {
  const std::vector<const Problem*> problems = shown_problems(report);
  const bool is_failure = std::ranges::any_of(problems, &Problem::fails);
  if (!report.one_line.empty() && !is_failure) {
    return fmt::format("{} {}\n", sign_of(report.outcome), text(report.one_line));
  }
  std::string page = heading(report) + picture_of(report);
  const std::string last = last_lines(report);
  std::string numbers = report.numbers.rows.empty() ? "" : table_markdown(report.numbers) + "\n";
  // A comment that says what to do first has the evidence folded.
  const std::string_view fold = report.next.empty() ? "" : "<details><summary>All numbers and changes</summary>\n\n";
  const std::string_view fold_end = report.next.empty() ? "" : "\n</details>\n";
  page += fmt::format("{}{}{}", next_steps(report), fold, numbers);
  page += problem_list(report, problems, page.size() + last.size() + fold_end.size());
  return page + last + std::string(fold_end);
}

}  // namespace doctor
