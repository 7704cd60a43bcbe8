#include <fmt/format.h>

#include <algorithm>

#include "diagnose/throughput_words.h"
#include "diagnose/user_code.h"
#include "report/text_parts.h"
#include "text/numbers.h"

namespace doctor {
namespace {

constexpr std::size_t kShownChanges = 3;
constexpr std::size_t kShownHints = 2;

bool is_one_line(const Advice& advice) {
  return advice.code && advice.code->find('\n') == std::string::npos;
}

/// Where to make a change: the line of the user's code, else her words for the step, where they tell it from others.
std::string place_of(const Measurements& measurements, const Judgement& judgement, const ShownChange& shown) {
  const std::vector<Fix>& fixes = shown.advice.fixes;
  const auto has_iterator = [](const Fix& fix) { return fix.iterator != kNoIterator; };
  const auto fix = std::find_if(fixes.begin(), fixes.end(), has_iterator);
  if (fix == fixes.end() || !shown.finding.host) {
    const SourceLine* const line = source_of(measurements, judgement, shown.finding);
    return line == nullptr ? std::string() : to_text(*line);
  }
  const HostMeasurement& host = measurements.hosts[*shown.finding.host];
  if (const SourceLine* const line = source_of(host, fix->iterator); line != nullptr) return to_text(*line);
  return is_one_of_several(host, fix->iterator) ? describe(host, fix->iterator) : std::string();
}

std::string first_sentence(const std::string& text) {
  return text.substr(0, std::min(text.size(), text.find(". ")) + 1);
}

/// Code takes the place as a comment, a sentence in brackets.
std::string with_place(std::string text, bool is_code, const std::string& place) {
  if (place.empty()) return text;
  if (is_code) return text.find('#') == std::string::npos ? fmt::format("{}  # {}", text, place) : text;
  const bool is_sentence = text.ends_with('.');
  if (is_sentence) text.pop_back();
  return fmt::format("{} ({}){}", text, place, is_sentence ? "." : "");
}

/// Whether a change is worth a line however short the report: with its condition it gains far more than the first one,
/// which has none.
bool gains_far_more(const ShownChange& change, const ShownChange& first) {
  constexpr double kFarMore = 1.5;
  return !change.change.is_unproven && change.advice.gain && first.advice.gain &&
         change.advice.gain->then.estimate > kFarMore * first.advice.gain->then.estimate;
}

/// The changes that fit on a screen: the first ones, with one alternative each, or where there is less room none.
std::vector<ShownChange> first_of(const std::vector<ShownChange>& changes, Brevity brevity) {
  const bool is_brief = leaves_out(brevity, Brevity::alternatives);
  const std::size_t most = leaves_out(brevity, Brevity::later_changes) ? 1 : is_brief ? 2 : kShownChanges;
  const std::ptrdiff_t most_alternatives = is_brief ? 0 : 1;  // of one change
  std::vector<ShownChange> shown;
  for (const ShownChange& next : changes) {
    const auto alternatives = std::count_if(shown.begin(), shown.end(), [&](const ShownChange& other) {
      return next.change.instead_of && other.change.instead_of == next.change.instead_of;
    });
    const bool is_alternative = next.change.instead_of.has_value();
    const bool fits = shown.size() < most && (!is_alternative || alternatives < most_alternatives);
    if (fits || (shown.size() == 1 && gains_far_more(next, shown.front()))) shown.push_back(next);
  }
  return shown;
}

/// "do 1", "do 2"; "or" for an alternative; "perhaps" for what may bring nothing.
std::string label_of(const std::vector<ShownChange>& changes, std::size_t index) {
  if (changes[index].change.is_unproven) return "perhaps";
  if (changes[index].change.instead_of) return "or";
  const auto number = std::count_if(changes.begin(), changes.begin() + static_cast<std::ptrdiff_t>(index) + 1,
                                    [](const ShownChange& shown) { return !shown.change.instead_of; });
  return fmt::format("do {}", number);
}

void add_hints(const Measurements& measurements, const Diagnosis& diagnosis, TextPage& page, std::string& first_rule) {
  std::size_t shown = 0;
  for (const Finding& finding : diagnosis.findings) {
    if (finding.suppressed || finding.severity == Severity::note || finding.advice.empty()) continue;
    const SourceLine* const line = source_of(measurements, diagnosis.judgement, finding);
    page.row("do", fmt::format("{} [{}]",
                               with_place(finding.advice.front().text, false, line ? to_text(*line) : std::string()),
                               finding.rule));
    if (first_rule.empty()) first_rule = finding.rule;
    if (++shown == kShownHints) return;
  }
}

}  // namespace

std::vector<ShownChange> changes_that_count(const Diagnosis& diagnosis) {
  std::vector<ShownChange> changes;
  for (const Change& change : diagnosis.changes) {
    const Finding& finding = diagnosis.findings[change.finding];
    if (!finding.suppressed) changes.push_back({change, finding, finding.advice[change.advice]});
  }
  return changes;
}

std::string describe_rates(const Diagnosis& diagnosis, const PipelineView& worst) {
  const PipelineJudgement& judged = worst.judgement;
  if (judged.steps_per_s <= 0) return {};
  std::string text = format_steps_per_s(judged.steps_per_s) + (judged.has_clocked_rate ? " steps/s before the recording"
                                                               : judged.has_recorded_rates ? " steps/s as recorded"
                                                                                           : " steps/s now");
  const std::vector<ShownChange> changes = changes_that_count(diagnosis);
  std::string numbers;
  std::size_t number = 0;
  double rate = judged.steps_per_s;
  for (const ShownChange& shown : changes) {
    if (shown.change.instead_of) continue;
    ++number;
    const bool is_first = number == 1 && shown.advice.gain && shown.advice.gain->then.condition == Condition::none;
    if (!is_first && !shown.change.together) break;
    numbers += fmt::format("{}{}", numbers.empty() ? "" : " + ", number);
    const Gain& gain = shown.change.together ? *shown.change.together : *shown.advice.gain;
    if (gain.then.estimate < kLeastGain * rate) break;
    rate = gain.then.estimate;
    text += fmt::format(" -> {} with {}", format_steps_per_s(rate), numbers);
  }
  return text + fmt::format(" -> {} if every element were ready", format_steps_per_s(judged.steps_per_s_without_input));
}

std::string describe_missing_gains(const Diagnosis& diagnosis, const PipelineView& worst) {
  if (worst.judgement.level != InputLevel::bound) return {};
  std::string reason;
  for (const Finding& finding : diagnosis.findings) {
    for (const Advice& advice : finding.advice) {
      if (advice.gain) return {};
      if (reason.empty()) reason = advice.no_gain_because;
    }
  }
  if (worst.judgement.bottleneck) return "none of the changes that the model knows makes it clearly faster";
  return reason.empty() ? reason : "what a change brings is not predicted: " + reason;
}

std::string add_changes(const Measurements& measurements, const Diagnosis& diagnosis, Detail detail, Brevity brevity,
                        TextPage& page) {
  const std::vector<ShownChange> all = changes_that_count(diagnosis);
  const std::vector<ShownChange> changes = detail == Detail::full ? all : first_of(all, brevity);
  std::string first_rule;
  std::string versions;  // of the row above: said once for rows that agree
  if (changes.empty()) add_hints(measurements, diagnosis, page, first_rule);
  for (std::size_t index = 0; index < changes.size(); ++index) {
    const ShownChange& shown = changes[index];
    if (first_rule.empty()) first_rule = shown.finding.rule;
    const bool is_code = is_one_line(shown.advice);
    const std::string line = is_code                                      ? *shown.advice.code
                             : leaves_out(brevity, Brevity::later_limits) ? first_sentence(shown.advice.text)
                                                                          : shown.advice.text;
    page.row(label_of(changes, index),
             fmt::format("{} [{}]", with_place(line, is_code, place_of(measurements, diagnosis.judgement, shown)),
                         shown.finding.rule),
             is_code ? Emphasis::code : Emphasis::none);
    // What limits afterwards says where to go on from: after the first change, since the others come after it.
    const bool is_first = index == 0 && !leaves_out(brevity, Brevity::later_limits);
    const bool says_all = is_first || detail == Detail::full;
    if (shown.advice.gain) {
      page.row("", says_all ? describe_gain(*shown.advice.gain) : describe_gain_alone(*shown.advice.gain),
               Emphasis::first_word);
    }
    // The first change is written out, however long it is: the rest of the report is short.
    if (index == 0 && shown.advice.code && !is_code) page.lines("", *shown.advice.code);
    if (!shown.advice.versions.empty() && shown.advice.versions != versions) page.row("", shown.advice.versions);
    versions = shown.advice.versions;
  }
  if (all.size() > changes.size()) {
    page.row("do", fmt::format("{} more with -v", format_count(all.size() - changes.size(), "change")));
  }
  return first_rule;
}

}  // namespace doctor
