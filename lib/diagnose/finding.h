#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "diagnose/reference.h"
#include "model/prediction.h"

namespace doctor {

/// A finding that the user has seen and accepts, for a reason and a time.
struct Suppression {
  std::string rule;
  std::string subject;  ///< pattern over the finding's subject; empty: whatever it is about
  std::string reason;   ///< foreign text
  std::optional<std::chrono::year_month_day> expires;  ///< the last day on which it counts; none: it never ends
  std::string source;  ///< where it was written: "--suppress", "/job/.tfdata-doctor.toml:12". Foreign text
};

enum class Severity { note, warning, error };

/// A number that a finding rests on. `unit` is "us", "ms", "share" (0..1), "calls", "elements", "cores", "events",
/// or empty for a plain number.
struct Evidence {
  std::string name;
  double value = 0;
  std::string unit;
};

/// What a change is predicted to bring.
struct Gain {
  double now = 0;  ///< steps a second, of the model
  Prediction then;

  double factor() const { return now > 0 ? then.estimate / now : 1; }
  double low() const { return now > 0 ? then.low / now : 1; }
  double high() const { return now > 0 ? then.high / now : 1; }
};

/// Why it is not known what a change brings.
enum class NoGainBecause {
  nobody_waits,
  too_many_events,  ///< more than a model takes
  too_few_calls,
  too_few_elements,
  no_threads,           ///< TF1 timelines do not show them
  no_consumer,          ///< no call of one
  no_iterators,         ///< of tf.data, of which a model is made
  rate_not_reproduced,  ///< by any model of the pipeline
  unknown_change,       ///< to the model
  too_many_changes,     ///< to predict them all
};

/// What to do: the action in one sentence, and what to know about it.
struct AdviceText {
  AdviceText(std::string what) : action(std::move(what)) {}  // NOLINT(google-explicit-constructor): most have no detail
  AdviceText(const char* what) : action(what) {}             // NOLINT(google-explicit-constructor)
  AdviceText(std::string what, std::string about_it) : action(std::move(what)), detail(std::move(about_it)) {}

  std::string action;  ///< one sentence without its period: "Run map in parallel"
  std::string detail;  ///< further sentences; may be empty

  std::string whole() const { return detail.empty() ? action + "." : action + ". " + detail; }
};

/// A change to make. `code` holds lines of Python that the user can take over.
struct Advice {
  AdviceText text;
  std::optional<std::string> code;
  std::vector<Fix> fixes = {};    ///< what a model can predict of it; empty: nothing
  std::optional<Gain> gain = {};  ///< filled in by diagnose(), where there is a model that can be relied upon
  NoGainBecause no_gain_because = NoGainBecause::nobody_waits;  ///< why it has no gain; filled in by diagnose()
  /// Which versions of TensorFlow run the code, and what to write in others; filled in by diagnose(). Empty where the
  /// trace shows that its version does.
  std::string versions = {};
  /// It keeps elements in a cache, and the trace shows no end of an epoch, before which that is never read from; filled
  /// in by diagnose().
  bool is_unproven = false;
};

/// One fault that a rule saw in this trace. Plain data; words for a sink are rendered from it.
struct Finding {
  std::string rule;                     ///< filled in by diagnose()
  bool states_verdict = false;          ///< Rule::states_verdict of the rule; filled in by diagnose()
  bool depends_on_load = false;         ///< Rule::judges_load of the rule; filled in by diagnose()
  std::vector<Reference> follows = {};  ///< Rule::follows of the rule; filled in by diagnose()
  Severity severity = Severity::warning;
  std::string subject;  ///< long name of the iterator at fault; empty if it is the whole trace or pipeline
  std::string message;  ///< one sentence with its numbers
  std::vector<Evidence> evidence;
  std::vector<Advice> advice;
  std::vector<Advice> without_gain = {};  ///< what would be advised if it gained anything; filled in by diagnose()
  Picoseconds at_stake = 0;               ///< time waited for because of it: orders findings of one severity
  bool is_easy = false;  ///< its first advice is a small change that is sure to gain: it comes before the others
  std::optional<std::size_t> host;             ///< index into Measurements::hosts; none: the run as a whole
  std::optional<std::size_t> pipeline;         ///< index into Judgement::pipelines; none: no pipeline in particular
  std::optional<Suppression> suppressed = {};  ///< why it does not count; none: it does
};

}  // namespace doctor
