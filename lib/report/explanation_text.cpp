#include <fmt/format.h>

#include <algorithm>

#include "diagnose/dataset_words.h"
#include "report/explanation.h"
#include "report/pipeline_text.h"
#include "report/report.h"
#include "text/numbers.h"
#include "text/text_page.h"

namespace doctor {
namespace {

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
  page.row("about", view == nullptr
                        ? "the whole trace"
                        : fmt::format("pipeline {} on {} ({})", pipeline_id(view->judgement, view->pipeline),
                                      host_name(view->host), describe_calls(view->pipeline)));
  for (const Question& question : inquiry.questions) page.row(question.holds ? "yes" : "no", describe(question));
  if (!inquiry.missing.empty()) page.row("missing", inquiry.missing);
  if (inquiry.has_finding) page.row("so", "it fires");
  if (view == nullptr) return;
  for (const SeenAt& place : seen_at(*view, inquiry)) {
    page.row("seen", fmt::format("{}: {} from {} on, thread {}{}", place.what, format_time(place.duration),
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
  page.row("nearest",
           fmt::format("{} is {}, and the threshold {} is {} (--set {}.{}=VALUE moves it)", comparison.measured.name,
                       format_quantity(comparison.measured.value, comparison.measured.unit), comparison.threshold,
                       format_quantity(comparison.limit, comparison.measured.unit), rule.id, comparison.threshold));
}

}  // namespace

std::string render_explanation_text(const Rule& rule, const Measurements& measurements, const Diagnosis& diagnosis,
                                    const TextStyle& style) {
  const std::vector<PipelineView> views = pipelines_of(measurements, diagnosis.judgement);
  const std::vector<Inquiry>& inquiries = inquiries_of(diagnosis, rule.id);
  const RuleOutcome outcome = outcome_of(inquiries);
  TextPage page(style.color);
  add_headline(rule, outcome, page);
  if (style.detail == Detail::verdict) return page.take();
  for (const Finding& finding : diagnosis.findings) {
    if (finding.rule == rule.id) page.row("finding", finding.message);
  }
  // A run may have a hundred pipelines; the first are the worst.
  constexpr std::size_t kShownInquiries = 5;
  const std::size_t shown =
      style.detail == Detail::full ? inquiries.size() : std::min(kShownInquiries, inquiries.size());
  for (std::size_t index = 0; index < shown; ++index) add_inquiry(inquiries[index], views, page);
  if (shown < inquiries.size()) page.row("more", fmt::format("{} more with -v", inquiries.size() - shown));
  if (outcome == RuleOutcome::silent) add_nearest(rule, inquiries, page);
  page.empty_line();
  page.row("more", fmt::format("tfdata-doctor explain {}", rule.id));
  return page.take();
}

}  // namespace doctor
