#include "report/rule_pages.h"

#include <cmath>

#include "diagnose/user_code.h"
#include "report/json_values.h"
#include "report/report.h"

namespace doctor {
namespace {

/// Where a number of an inquiry comes from. Holds foreign text.
struct SeenAt {
  SeenAt(const HostMeasurement& host, const Sighting& sighting, std::string words, std::string iterator)
      : what(std::move(words)),
        long_name(std::move(iterator)),
        thread(index_of(sighting.lane) < host.threads.size() ? host.threads[index_of(sighting.lane)] : ""),
        start(sighting.span.start - host.window_start),
        duration(sighting.duration()) {}

  std::string what;       ///< "GetNext call 3 of 8, the longest"
  std::string long_name;  ///< of an iterator; empty for a GetNext call
  std::string thread;     ///< name of the thread; may be empty
  Picoseconds start;      ///< since the trace begins
  Picoseconds duration;
};

std::string_view in_words(Relation relation, bool holds) {
  if (relation == Relation::at_least) return holds ? "at least" : "below";
  return holds == (relation == Relation::at_most) ? "at most" : "above";
}

/// How far the number of a comparison is from its threshold, as a share of the threshold.
double distance_of(const Comparison& comparison) {
  constexpr double kSmallestLimit = 1e-9;
  return std::abs(comparison.measured.value - comparison.limit) / std::max(kSmallestLimit, std::abs(comparison.limit));
}

/// What the rule named `rule` asked; empty if there is no such rule.
const std::vector<Inquiry>& inquiries_of(const Diagnosis& diagnosis, std::string_view rule) {
  static const std::vector<Inquiry> kNone;
  const auto found = std::ranges::find(diagnosis.inquiries, rule, &RuleInquiries::rule);
  return found == diagnosis.inquiries.end() ? kNone : found->inquiries;
}

/// The silent inquiry that came closest to a finding, for the user to look at first: the one that asked most, of those
/// the one whose number is nearest to its threshold, as a share of it. Null if none ended at a comparison.
const Inquiry* nearest_to_firing(const std::vector<Inquiry>& inquiries) {
  const Inquiry* nearest = nullptr;
  for (const Inquiry& inquiry : inquiries) {
    const Question* const question = deciding_question(inquiry);
    if (question == nullptr || !question->comparison) continue;
    const bool is_nearer = nearest == nullptr || inquiry.questions.size() > nearest->questions.size() ||
                           (inquiry.questions.size() == nearest->questions.size() &&
                            distance_of(*question->comparison) < distance_of(*nearest->questions.back().comparison));
    if (is_nearer) nearest = &inquiry;
  }
  return nearest;
}

/// The events that an inquiry about a pipeline looked at: its longest GetNext call, and what the iterator asked about
/// did longest.
std::vector<SeenAt> seen_at(const PipelineView& view, const Inquiry& inquiry) {
  std::vector<SeenAt> places;
  const PipelineMeasurement& pipeline = view.pipeline;
  if (!pipeline.calls.empty()) {
    const Sighting slowest{pipeline.calls[pipeline.slowest], pipeline.slowest_lane};
    places.emplace_back(view.host, slowest,
                        fmt::format("GetNext call {} of {}, the longest", pipeline.slowest + 1, pipeline.calls.size()),
                        "");
  }
  const IteratorId subject = inquiry.subject != kNoIterator ? inquiry.subject : view.judgement.culprit;
  if (subject == kNoIterator) return places;
  const IteratorMeasurement& iterator = view.host.iterators[subject];
  const Sighting held = view.phase().longest_held[subject];
  if (held.duration() > 0) {
    places.emplace_back(view.host, held, "the longest time that GetNext waited for it", iterator.long_name);
  }
  if (iterator.longest_call.duration() > 0) {
    places.emplace_back(view.host, iterator.longest_call, "its longest call", iterator.long_name);
  }
  return places;
}

// The words of the page's schema: they never change.

std::string_view to_word(RuleOutcome outcome) {
  using enum RuleOutcome;
  return word_of(outcome, {{fired, "fired"}, {not_evaluated, "not_evaluated"}, {silent, "silent"}});
}

std::string_view to_word(Relation relation) {
  using enum Relation;
  return word_of(relation, {{at_most, "at_most"}, {above, "above"}, {at_least, "at_least"}});
}

OrderedJson question_json(const Question& question) {
  OrderedJson json = {{key::question, describe(question)}, {key::holds, question.holds}};
  if (!question.comparison) return json;
  const Comparison& comparison = *question.comparison;
  json[key::measured] = comparison.measured.name;
  json[key::value] = comparison.measured.value;
  json[key::unit] = comparison.measured.unit;
  json[key::relation] = to_word(comparison.relation);
  json[key::threshold] = comparison.threshold;
  json[key::limit] = comparison.limit;
  return json;
}

OrderedJson seen_json(const SeenAt& place) {
  return {{key::what, place.what},
          {key::long_name, text_or_null(place.long_name)},
          {key::thread, place.thread},
          {key::start_us, to_microseconds(place.start)},
          {key::duration_us, to_microseconds(place.duration)}};
}

OrderedJson inquiry_json(const Inquiry& inquiry, const std::vector<PipelineView>& views) {
  const PipelineView* const view = inquiry.pipeline ? &views[*inquiry.pipeline] : nullptr;
  return {{key::pipeline, view == nullptr ? OrderedJson(nullptr) : OrderedJson(pipeline_id(*view))},
          {key::host, view == nullptr ? OrderedJson(nullptr) : OrderedJson(view->host.name())},
          {key::outcome, to_word(outcome_of(inquiry))},
          {key::missing, text_or_null(inquiry.missing)},
          {key::questions, array_of(inquiry.questions, question_json)},
          {key::seen, view == nullptr ? OrderedJson::array() : array_of(seen_at(*view, inquiry), seen_json)}};
}

void add_headline(const Rule& rule, RuleOutcome outcome, TextPage& page) {
  switch (outcome) {
    case RuleOutcome::fired:
      return page.headline(fmt::format("{} FIRES", rule.id), std::string(rule.summary), Tone::bad);
    case RuleOutcome::silent:
      return page.headline(fmt::format("{} IS SILENT", rule.id), "the trace speaks against it", Tone::good);
    case RuleOutcome::not_evaluated:
      return page.headline(fmt::format("{} CANNOT BE EVALUATED", rule.id), "evidence is missing", Tone::unsure);
  }
}

void add_inquiry(const Inquiry& inquiry, const std::vector<PipelineView>& views, TextPage& page) {
  page.empty_line();
  const PipelineView* const view = inquiry.pipeline ? &views[*inquiry.pipeline] : nullptr;
  page.row("About", view == nullptr ? "the whole trace"
                                    : fmt::format("pipeline {} on {} ({})", pipeline_id(*view), view->host.name(),
                                                  describe_calls(view->pipeline)));
  for (const Question& question : inquiry.questions) page.row(question.holds ? "Yes" : "No", describe(question));
  if (!inquiry.missing.empty()) page.row("Missing", inquiry.missing);
  if (inquiry.has_finding) page.row("So", "it fires");
  if (view == nullptr) return;
  for (const SeenAt& place : seen_at(*view, inquiry)) {
    page.row("Seen", fmt::format("{}: {} from {} on, thread {}{}", place.what, format_time(place.duration),
                                 format_time(place.start), place.thread.empty() ? "without a name" : place.thread,
                                 place.long_name.empty() ? "" : ", " + place.long_name));
  }
}

/// What would have to be different.
void add_nearest(const Rule& rule, const std::vector<Inquiry>& inquiries, TextPage& page) {
  const Inquiry* const nearest = nearest_to_firing(inquiries);
  if (nearest == nullptr) return;
  const Comparison& comparison = *nearest->questions.back().comparison;
  page.empty_line();
  page.row("Nearest",
           fmt::format("{} is {}, and the threshold {} is {} (--set {}.{}=VALUE moves it)", comparison.measured.name,
                       format_quantity(comparison.measured.value, comparison.measured.unit), comparison.threshold,
                       format_quantity(comparison.limit, comparison.measured.unit), rule.id, comparison.threshold));
}

/// Whether a line of Markdown goes on with the paragraph or the list item above it.
bool continues(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(' ');
  if (begin == std::string_view::npos) return false;
  constexpr std::string_view kStarts = "#-*|>";
  const bool is_numbered = line.find(". ") < begin + 3 && line[begin] >= '0' && line[begin] <= '9';
  return kStarts.find(line[begin]) == std::string_view::npos && !is_numbered;
}

/// Markdown with its paragraphs broken anew; code stays as it is.
std::string refilled(std::string_view page, std::size_t width) {
  std::string text;
  std::string paragraph;
  const auto end_paragraph = [&] {
    const bool is_item = !continues(paragraph);
    if (!paragraph.empty()) text += fitted_lines(paragraph + "\n", width, is_item ? 2 : 0);
    paragraph.clear();
  };
  bool is_code = false;
  for (const std::string_view line : split_lines(page)) {
    const bool is_fence = line.starts_with("```");
    const bool goes_on = !is_code && !is_fence && !paragraph.empty() && !paragraph.starts_with('#') && continues(line);
    if (goes_on) {
      paragraph.append(" ").append(line.substr(line.find_first_not_of(' ')));
      continue;
    }
    end_paragraph();
    if (is_code || is_fence || line.empty()) {
      text.append(line) += '\n';
    } else {
      paragraph = line;
    }
    is_code = is_code != is_fence;
  }
  end_paragraph();
  return text;
}

OrderedJson rule_json(const CatalogEntry& entry, const ThresholdSettings& settings, bool with_page) {
  const ThresholdValues in_force = values_in_force(entry.rule.id, entry.rule.thresholds, settings);
  OrderedJson json = {{key::rule, entry.rule.id}, {key::summary, entry.rule.summary}};
  json[key::follows] = references_json(entry.rule.follows);
  json[key::thresholds] = array_of(entry.rule.thresholds, [&](const Threshold& threshold) -> OrderedJson {
    return {
        {key::name, threshold.name}, {key::value, in_force[threshold.name]}, {key::default_, threshold.value},
        {key::unit, threshold.unit}, {key::meaning, threshold.meaning},
    };
  });
  if (with_page) json[key::page] = entry.page;
  return json;
}

}  // namespace

RuleOutcome outcome_of(const Inquiry& inquiry) {
  if (inquiry.has_finding) return RuleOutcome::fired;
  return inquiry.missing.empty() ? RuleOutcome::silent : RuleOutcome::not_evaluated;
}

RuleOutcome outcome_of(const std::vector<Inquiry>& inquiries) {
  RuleOutcome outcome = RuleOutcome::silent;
  for (const Inquiry& inquiry : inquiries) {
    if (inquiry.has_finding) return RuleOutcome::fired;
    if (!inquiry.missing.empty()) outcome = RuleOutcome::not_evaluated;
  }
  return outcome;
}

const Question* deciding_question(const Inquiry& inquiry) {
  if (outcome_of(inquiry) != RuleOutcome::silent || inquiry.questions.empty()) return nullptr;
  return inquiry.questions.back().holds ? nullptr : &inquiry.questions.back();
}

std::string describe(const Question& question) {
  if (!question.comparison) return question.statement;
  const Comparison& comparison = *question.comparison;
  const Evidence& measured = comparison.measured;
  return fmt::format("{} {} is {} {} ({})", measured.name, format_quantity(measured.value, measured.unit),
                     in_words(comparison.relation, question.holds), format_quantity(comparison.limit, measured.unit),
                     comparison.threshold);
}

OrderedJson explanation_json(const Rule& rule, const Measurements& measurements, const Diagnosis& diagnosis) {
  const std::vector<PipelineView> views = pipelines_of(measurements, diagnosis.judgement);
  const std::vector<Inquiry>& inquiries = inquiries_of(diagnosis, rule.id);
  OrderedJson page = begun_page("tfdata-doctor.explanation/1");
  page[key::rule] = rule.id;
  page[key::outcome] = to_word(outcome_of(inquiries));
  page[key::inquiries] = array_of(inquiries, [&](const Inquiry& inquiry) { return inquiry_json(inquiry, views); });
  return page;
}

std::string render_explanation_text(const Rule& rule, const Measurements& measurements, const Diagnosis& diagnosis,
                                    const TextStyle& style) {
  const std::vector<PipelineView> views = pipelines_of(measurements, diagnosis.judgement);
  const std::vector<Inquiry>& inquiries = inquiries_of(diagnosis, rule.id);
  const RuleOutcome outcome = outcome_of(inquiries);
  TextPage page(style.color, style.width);
  add_headline(rule, outcome, page);
  if (style.detail == Detail::verdict) return page.take();
  for (const Finding& finding : diagnosis.findings) {
    if (finding.rule == rule.id) page.row("Finding", finding.message);
  }
  // A run may have a hundred pipelines; the first are the worst.
  constexpr std::size_t kShownInquiries = 5;
  const std::size_t shown =
      style.detail == Detail::full ? inquiries.size() : std::min(kShownInquiries, inquiries.size());
  for (std::size_t index = 0; index < shown; ++index) add_inquiry(inquiries[index], views, page);
  if (shown < inquiries.size()) page.row("More", fmt::format("{} more with -v", inquiries.size() - shown));
  if (outcome == RuleOutcome::silent) add_nearest(rule, inquiries, page);
  page.empty_line();
  page.command("more", fmt::format("tfdata-doctor explain {}", rule.id));
  return page.take();
}

std::string render_rules_text(std::span<const CatalogEntry> catalog, PageWidth width) {
  std::vector<TextRow> rows;
  for (const CatalogEntry& entry : catalog)
    rows.push_back({std::string(entry.rule.id), std::string(entry.rule.summary)});
  return text_table({{}, {"", Align::left, Fit::wrap}}, rows, width);
}

std::string render_rule_text(const CatalogEntry& entry, const ThresholdSettings& settings, PageWidth width) {
  const Rule& rule = entry.rule;
  std::string text = width ? refilled(entry.page, *width) : std::string(entry.page);
  if (!text.ends_with('\n')) text += '\n';
  if (!rule.follows.empty()) text += "\n## Read more\n";
  for (const Reference& reference : rule.follows) {
    text += fitted_lines(fmt::format("- {}\n", reference.title), width, 2) + fmt::format("  {}\n", reference.url);
  }
  if (rule.thresholds.empty()) return text;
  const ThresholdValues in_force = values_in_force(rule.id, rule.thresholds, settings);
  text += "\n## Thresholds\n";
  TextPage page(/*color=*/false, width);
  for (const Threshold& threshold : rule.thresholds) {
    const double value = in_force[threshold.name];
    std::string number = format_quantity(value, threshold.unit);
    if (value != threshold.value)
      number += fmt::format(" (default {})", format_quantity(threshold.value, threshold.unit));
    text += fmt::format("\n{} = {}\n", threshold.name, number);
    page.row("", threshold.meaning);
    text += page.take();
  }
  const Threshold& first = rule.thresholds.front();
  return text + fmt::format("\nSet one with --set {}.{}={:g}\n", rule.id, first.name, in_force[first.name]);
}

OrderedJson rules_json(std::span<const CatalogEntry> catalog, const ThresholdSettings& settings, bool with_pages) {
  OrderedJson page = begun_page("tfdata-doctor.rules/1");
  page[key::rules] =
      array_of(catalog, [&](const CatalogEntry& entry) { return rule_json(entry, settings, with_pages); });
  return page;
}

}  // namespace doctor
