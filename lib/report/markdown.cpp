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
  return escape_for_markdown(clip(escape_for_terminal(foreign), longest));
}

std::string code(std::string_view foreign) {
  return markdown_code(clip(escape_for_terminal(foreign), kLongestCell));
}

/// A check mark, a cross or a question mark.
std::string_view sign_of(ProblemOutcome outcome) {
  using enum ProblemOutcome;
  return outcome == passed ? "\xE2\x9C\x85" : outcome == failed ? "\xE2\x9D\x8C" : "\xE2\x9D\x94";
}

std::string heading(const ProblemReport& report) {
  return fmt::format("### {} tfdata-doctor {}: {}\n\n{}\n\n", sign_of(report.outcome), report.command,
                     text(report.verdict), text(report.summary));
}

std::string table_row(const Problem& problem, bool with_host) {
  const std::string place = describe_place(problem, with_host);
  const std::string where = place.empty() ? std::string("the run") : code(place);
  return fmt::format("| {} | {} | {} | {} |\n", to_word(problem.severity), code(problem.rule), where,
                     text(problem.message, kLongestCell));
}

/// A foldable section: what was measured, what to do.
std::string details_of(const Problem& problem) {
  const std::string subject = clip(escape_for_terminal(problem.subject), kLongestCell);
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
  std::string block;
  for (const std::string& line : report.picture) {
    block += "    " + clip(escape_for_terminal(line), kLongestCodeLine) + "\n";
  }
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

}  // namespace

std::string render_markdown(const ProblemReport& report) {
  const std::vector<const Problem*> problems = shown_problems(report);
  std::string page = heading(report);
  std::string last =
      fmt::format("{}. {} `{}` says more.\n", describe_counts(report), rules_sentence(report), report.explanation);
  for (std::size_t index = 0; index < std::min(kMostNotes, report.notes.size()); ++index) {
    last += "\nNote: " + text(report.notes[index], kLongestCell) + "\n";
  }
  if (!report.settings_note.empty()) last += "\nSettings: " + text(report.settings_note, kLongestCell) + "\n";
  page += picture_of(report);
  if (!report.numbers.rows.empty()) page += table_markdown(report.numbers) + "\n";
  if (problems.empty()) return page + last;
  page += "| severity | rule | where | what |\n|---|---|---|---|\n";
  const std::size_t budget = kLongestMarkdown - kReserve - last.size() - page.size();
  const bool with_host = spans_hosts(report);
  std::size_t in_table = 0;
  std::size_t with_details = 0;
  // Half of the room at most, so that the gravest problems have their details.
  page += as_many_as_fit(problems, budget / 2, in_table,
                         [&](const Problem& problem) { return table_row(problem, with_host); }) +
          "\n";
  page += as_many_as_fit(problems, kLongestMarkdown - kReserve - last.size() - page.size(), with_details, details_of);
  return page + cut_sentence(problems.size(), in_table, with_details) + last;
}

}  // namespace doctor
