#include "diagnose/judgement_words.h"

namespace doctor {

std::string_view to_word(VerdictStatus status) {
  switch (status) {
    case VerdictStatus::input_bound:
      return "input_bound";
    case VerdictStatus::healthy:
      return "healthy";
    case VerdictStatus::no_input_pipeline:
      return "no_input_pipeline";
    case VerdictStatus::inconclusive:
      break;
  }
  return "inconclusive";
}

std::string_view to_word(InputLevel level) {
  switch (level) {
    case InputLevel::bound:
      return "bound";
    case InputLevel::mild:
      return "mild";
    case InputLevel::not_bound:
      return "not_bound";
    case InputLevel::unknown:
      break;
  }
  return "unknown";
}

std::string_view to_word(Phase phase) {
  switch (phase) {
    case Phase::warmup:
      return "warmup";
    case Phase::background:
      return "background";
    case Phase::steady:
      break;
  }
  return "steady";
}

std::string_view to_word(ChosenBy chosen_by) {
  switch (chosen_by) {
    case ChosenBy::cores:
      return "cores";
    case ChosenBy::thread:
      return "thread";
    case ChosenBy::model:
      return "model";
    case ChosenBy::waits:
      break;
  }
  return "waits";
}

std::string_view to_word(Limit limit) {
  switch (limit) {
    case Limit::source:
      return "source";
    case Limit::thread:
      return "thread";
    case Limit::calls:
      return "calls";
    case Limit::pool:
      return "pool";
    case Limit::cores:
      return "cores";
    case Limit::python_lock:
      return "python_lock";
    case Limit::outside:
      return "outside";
    case Limit::unknown:
      break;
  }
  return "unknown";
}

std::string_view to_word(Severity severity) {
  switch (severity) {
    case Severity::error:
      return "error";
    case Severity::warning:
      return "warning";
    case Severity::note:
      break;
  }
  return "note";
}

std::string_view culprit_kind(const IteratorMeasurement& culprit) {
  return culprit.is_source ? "source" : "transformation";
}

}  // namespace doctor
