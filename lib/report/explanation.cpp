#include "report/explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "text/numbers.h"

namespace doctor {
namespace {

std::string_view in_words(Relation relation, bool holds) {
  switch (relation) {
    case Relation::at_most:
      return holds ? "at most" : "above";
    case Relation::above:
      return holds ? "above" : "at most";
    case Relation::at_least:
      break;
  }
  return holds ? "at least" : "below";
}

SeenAt seen(const HostMeasurement& host, const Sighting& sighting, std::string what, std::string long_name) {
  const std::size_t lane = index_of(sighting.lane);
  return {std::move(what), std::move(long_name), lane < host.threads.size() ? host.threads[lane] : std::string(),
          sighting.span.start - host.window_start, sighting.duration()};
}

/// How far the number of a comparison is from its threshold, as a part of the threshold.
double distance_of(const Comparison& comparison) {
  constexpr double kSmallestLimit = 1e-9;
  return std::abs(comparison.measured.value - comparison.limit) / std::max(kSmallestLimit, std::abs(comparison.limit));
}

}  // namespace

const std::vector<Inquiry>& inquiries_of(const Diagnosis& diagnosis, std::string_view rule) {
  static const std::vector<Inquiry> kNone;
  const auto found = std::find_if(diagnosis.inquiries.begin(), diagnosis.inquiries.end(),
                                  [&](const RuleInquiries& asked) { return asked.rule == rule; });
  return found == diagnosis.inquiries.end() ? kNone : found->inquiries;
}

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

std::vector<SeenAt> seen_at(const PipelineView& view, const Inquiry& inquiry) {
  std::vector<SeenAt> places;
  const PipelineMeasurement& pipeline = view.pipeline;
  if (!pipeline.calls.empty()) {
    const Sighting slowest{pipeline.calls[pipeline.slowest], pipeline.slowest_lane};
    places.push_back(
        seen(view.host, slowest,
             fmt::format("GetNext call {} of {}, the longest", pipeline.slowest + 1, pipeline.calls.size()), {}));
  }
  const IteratorId subject = inquiry.subject != kNoIterator ? inquiry.subject : view.judgement.culprit;
  if (subject == kNoIterator) return places;
  const IteratorMeasurement& iterator = view.host.iterators[index_of(subject)];
  const Sighting held = view.phase().longest_held[index_of(subject)];
  if (held.duration() > 0) {
    places.push_back(seen(view.host, held, "the longest time that GetNext waited for it", iterator.long_name));
  }
  if (iterator.longest_call.duration() > 0) {
    places.push_back(seen(view.host, iterator.longest_call, "its longest call", iterator.long_name));
  }
  return places;
}

std::string describe(const Question& question) {
  if (!question.comparison) return question.statement;
  const Comparison& comparison = *question.comparison;
  const Evidence& measured = comparison.measured;
  return fmt::format("{} {} is {} {} ({})", measured.name, format_quantity(measured.value, measured.unit),
                     in_words(comparison.relation, question.holds), format_quantity(comparison.limit, measured.unit),
                     comparison.threshold);
}

}  // namespace doctor
