#include "report/explanation.h"
#include "report/report.h"
#include "text/json_page.h"

namespace doctor {
namespace {

// The words of the page's schema: they never change.

std::string_view to_word(RuleOutcome outcome) {
  switch (outcome) {
    case RuleOutcome::fired:
      return "fired";
    case RuleOutcome::not_evaluated:
      return "not_evaluated";
    case RuleOutcome::silent:
      break;
  }
  return "silent";
}

std::string_view to_word(Relation relation) {
  switch (relation) {
    case Relation::at_most:
      return "at_most";
    case Relation::above:
      return "above";
    case Relation::at_least:
      break;
  }
  return "at_least";
}

OrderedJson question_json(const Question& question) {
  OrderedJson json = {{"question", describe(question)}, {"holds", question.holds}};
  if (!question.comparison) return json;
  const Comparison& comparison = *question.comparison;
  json["measured"] = comparison.measured.name;
  json["value"] = comparison.measured.value;
  json["unit"] = comparison.measured.unit;
  json["relation"] = to_word(comparison.relation);
  json["threshold"] = comparison.threshold;
  json["limit"] = comparison.limit;
  return json;
}

OrderedJson seen_json(const SeenAt& place) {
  return {{"what", place.what},
          {"long_name", text_or_null(place.long_name)},
          {"thread", place.thread},
          {"start_us", to_microseconds(place.start)},
          {"duration_us", to_microseconds(place.duration)}};
}

OrderedJson inquiry_json(const Inquiry& inquiry, const std::vector<PipelineView>& views) {
  const PipelineView* const view = inquiry.pipeline ? &views[*inquiry.pipeline] : nullptr;
  OrderedJson questions = OrderedJson::array();
  for (const Question& question : inquiry.questions) questions.push_back(question_json(question));
  OrderedJson places = OrderedJson::array();
  if (view != nullptr) {
    for (const SeenAt& place : seen_at(*view, inquiry)) places.push_back(seen_json(place));
  }
  OrderedJson json = OrderedJson::object();
  json["pipeline"] = view == nullptr ? OrderedJson(nullptr) : OrderedJson(pipeline_id(view->judgement, view->pipeline));
  json["host"] = view == nullptr ? OrderedJson(nullptr) : OrderedJson(host_name(view->host));
  json["outcome"] = to_word(outcome_of(inquiry));
  json["missing"] = text_or_null(inquiry.missing);
  json["questions"] = std::move(questions);
  json["seen"] = std::move(places);
  return json;
}

}  // namespace

std::string render_explanation_json(const Rule& rule, const Measurements& measurements, const Diagnosis& diagnosis) {
  const std::vector<PipelineView> views = pipelines_of(measurements, diagnosis.judgement);
  const std::vector<Inquiry>& inquiries = inquiries_of(diagnosis, rule.id);
  OrderedJson list = OrderedJson::array();
  for (const Inquiry& inquiry : inquiries) list.push_back(inquiry_json(inquiry, views));
  OrderedJson page = {{"schema", "tfdata-doctor.explanation/1"}, {"tool", tool_json()}};
  page["rule"] = rule.id;
  page["outcome"] = to_word(outcome_of(inquiries));
  page["inquiries"] = std::move(list);
  return to_text(page);
}

}  // namespace doctor
