#include <fmt/format.h>

#include <algorithm>

#include "report/text_parts.h"
#include "text/code_lines.h"
#include "words/throughput_words.h"

namespace doctor {
namespace {

constexpr std::size_t kMostHints = 2;

std::string title_of_fix(const FixAnswer& fix) {
  return fix.instead_of ? fmt::format("Instead of fix {}: {}", *fix.instead_of + 1, fix.advice->text.action)
                        : fix.advice->text.action;
}

/// What a fix brings, or why that is not known.
void add_gain(const FixAnswer& fix, std::size_t number, Detail detail, TextPage& page) {
  if (!fix.gain) return detail == Detail::full ? add_missing_gain(*fix.advice, page) : void();
  GainWords words = words_of(*fix.gain, fix.rate_before);
  if (fix.adds_up) words.rest = number == 2 ? " with fix 1" : " with the fixes before it";
  if (fix.is_unproven) words.rest += ". Unproven: no epoch ended in this recording";
  page.gain(words.before, words.after, words.rest);
}

void add_fix(const FixAnswer& fix, std::size_t number, Detail detail, std::string& versions, TextPage& page) {
  page.titled_row(fmt::format("Fix {}", number), title_of_fix(fix), fix.finding->rule);
  if (detail == Detail::full && !fix.advice->text.detail.empty()) page.row("", fix.advice->text.detail);
  if (fix.advice->code) page.code(code_lines(*fix.advice->code, kCodeWidth));
  add_gain(fix, number, detail, page);
  if (!fix.advice->versions.empty() && fix.advice->versions != versions) page.row("", fix.advice->versions);
  versions = fix.advice->versions;
}

/// How many fixes are not shown, and what the best of them brings if that is more than what the shown ones do.
void add_more(const Answer& answer, std::size_t shown, TextPage& page) {
  constexpr double kClearlyMore = 1.1;
  if (shown >= answer.fixes.size()) return;
  const std::size_t more = answer.fixes.size() - shown;
  double best_shown = 1;
  double best = 1;
  for (std::size_t index = 0; index < answer.fixes.size(); ++index) {
    const std::optional<Gain>& gain = answer.fixes[index].gain;
    if (gain) (index < shown ? best_shown : best) = std::max(index < shown ? best_shown : best, gain->factor());
  }
  std::string text = more == 1 ? "1 more fix" : fmt::format("{} more fixes", more);
  if (best > kClearlyMore * best_shown) text += fmt::format(", {}{}", more == 1 ? "" : "up to ", format_factor(best));
  page.row("Also", text + ": -v");
}

/// Where there is no change to make: what the first findings advise.
void add_hints(const Diagnosis& diagnosis, TextPage& page) {
  std::size_t shown = 0;
  for (const Finding& finding : diagnosis.findings) {
    if (finding.suppressed || finding.severity == Severity::note || finding.advice.empty()) continue;
    page.titled_row(fmt::format("Fix {}", ++shown), finding.advice.front().text.action, finding.rule);
    if (!finding.states_verdict) page.row("", finding.message);
    if (finding.advice.front().code) page.code(code_lines(*finding.advice.front().code, kCodeWidth));
    if (shown == kMostHints) return;
  }
}

}  // namespace

void add_missing_gain(const Advice& advice, TextPage& page) {
  const std::string_view why = describe(advice.no_gain_because);
  if (!why.empty()) page.row("", fmt::format("gain not known: {}", why));
}

void add_fixes(const Answer& answer, const Diagnosis& diagnosis, std::size_t most, Detail detail, TextPage& page) {
  if (answer.fixes.empty()) return add_hints(diagnosis, page);
  const std::size_t shown = std::min(most, answer.fixes.size());
  std::string versions;  // of the fix above: said once for those that agree
  for (std::size_t index = 0; index < shown; ++index) add_fix(answer.fixes[index], index + 1, detail, versions, page);
  add_more(answer, shown, page);
}

}  // namespace doctor
