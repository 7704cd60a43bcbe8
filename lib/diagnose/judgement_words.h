#pragma once

#include "diagnose/finding.h"
#include "diagnose/judgement_types.h"

namespace doctor {

// The words for judgements in every document that a program reads. They belong to the schemas and never change.

/// "input_bound", "healthy", "no_input_pipeline", "inconclusive".
std::string_view to_word(VerdictStatus status);

/// "bound", "mild", "not_bound", "unknown".
std::string_view to_word(InputLevel level);

/// "steady", "warmup", "background".
std::string_view to_word(Phase phase);

/// "waits", "cores", "thread", "model".
std::string_view to_word(ChosenBy chosen_by);

/// "source", "thread", "calls", "pool", "cores", "python_lock", "outside", "unknown".
std::string_view to_word(Limit limit);

/// "error", "warning", "note".
std::string_view to_word(Severity severity);

/// "source" or "transformation".
std::string_view culprit_kind(const IteratorMeasurement& culprit);

}  // namespace doctor
