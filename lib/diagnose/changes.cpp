#include <cmath>

#include "diagnose/caching.h"
#include "diagnose/diagnose.h"
#include "diagnose/fix_advice.h"

namespace doctor {
namespace {

/// Changes of one host that are predicted, of the worst findings first. A prediction costs a fixed sum, a trace may
/// have a finding for each of a hundred thousand pipelines, and nobody reads so many gains.
constexpr std::size_t kMostPredictions = 128;
/// Fixes that no rule advises: the model has those of the busiest stages first.
constexpr std::size_t kMostAdded = 12;
/// What no rule advises and gains less is left to `whatif`: from run to run rates differ by as much.
constexpr double kClearGain = 1.1;
/// Changes that are ranked: each is held against those before it.
constexpr std::size_t kMostChanges = 64;
/// Changes of which it is predicted what they bring together.
constexpr std::size_t kMostTogether = 3;

/// What a change costs the user, and what is known of its gain: the first key of the ranking.
enum class Rank {
  sure_gain,  ///< predicted, without a condition
  setting,    ///< not predicted: an argument or one more call in the chain
  gain_if,    ///< predicted, on a condition that the trace does not show
  rewrite,    ///< not predicted: another function, files of another kind, or what depends on a condition
  unproven,   ///< a cache where the trace shows no end of an epoch
};

/// Whether advice is a cache that may never be complete: the trace shows no end of an epoch.
bool is_unproven(const HostMeasurement& host, const Advice& advice) {
  return std::any_of(advice.fixes.begin(), advice.fixes.end(), [&](const Fix& fix) {
    const bool is_cache = fix.kind == FixKind::cache || fix.kind == FixKind::split_cache;
    return is_cache && !shows_epoch_end(host, fix.iterator);
  });
}

/// Whether a fix is an argument or a call in the chain that needs no condition. Copies in parallel may cost as much as
/// they save, so without a prediction a parallel batch is not.
bool is_setting(const Fix& fix) {
  switch (fix.kind) {
    case FixKind::parallel_map:
    case FixKind::parallel_interleave:
    case FixKind::prefetch:
    case FixKind::iterate_once:
    case FixKind::prefetch_below:
    case FixKind::threadpool:
    case FixKind::buffer:
    case FixKind::unordered:
      return true;
    default:
      return false;
  }
}

Rank rank_of(const Finding& finding, const Advice& advice) {
  if (advice.is_unproven) return Rank::unproven;
  const bool is_split = std::any_of(advice.fixes.begin(), advice.fixes.end(),
                                    [](const Fix& fix) { return fix.kind == FixKind::split_cache; });
  if (is_split) return Rank::rewrite;  // its gain takes half of the function for what a cache can keep
  if (advice.gain) return advice.gain->then.condition == Condition::none ? Rank::sure_gain : Rank::gain_if;
  const bool are_settings = !advice.fixes.empty() && std::all_of(advice.fixes.begin(), advice.fixes.end(), is_setting);
  return are_settings || finding.is_easy ? Rank::setting : Rank::rewrite;
}

bool same_fix(const Fix& a, const Fix& b) {
  return a.kind == b.kind && a.iterator == b.iterator;
}

/// Whether two changes are of the same iterator, so that the second gains little or nothing once the first is made.
bool is_alternative_to(const Advice& a, const Advice& b) {
  return std::any_of(a.fixes.begin(), a.fixes.end(), [&](const Fix& one) {
    return std::any_of(b.fixes.begin(), b.fixes.end(), [&](const Fix& other) {
      return one.iterator == kNoIterator ? same_fix(one, other) : one.iterator == other.iterator;
    });
  });
}

/// Steps of a tenth: predictions that are closer do not differ.
double size_of(const Gain& gain) {
  constexpr double kStep = 1.1;  // chosen: rates of one program differ by as much from run to run
  return std::floor(std::log(std::max(gain.factor(), 0.01)) / std::log(kStep));
}

/// Whether nine times out of ten the change brings something: of gains that are alike that one comes first.
bool is_certain(const Gain& gain) {
  return gain.low() >= 1;
}

NoGainBecause why_no_gain(const Throughput& throughput, const PipelineMeasurement& pipeline, bool has_model,
                          const Advice& advice) {
  if (!pipeline.next_of.empty()) return NoGainBecause::unknown_change;
  if (throughput.sample().has_too_many_events) return NoGainBecause::too_many_events;
  if (pipeline.root == kNoIterator) return NoGainBecause::no_iterators;
  if (throughput.sample().consumers.empty()) return NoGainBecause::too_few_calls;
  if (!has_model) return NoGainBecause::rate_not_reproduced;
  return advice.fixes.empty() ? NoGainBecause::unknown_change : NoGainBecause::too_many_changes;
}

/// Takes out the advice that gains nothing, and with it the sentences that explain nothing else.
void keep_what_gains(double least_gain, Finding& finding) {
  const auto useless = std::stable_partition(finding.advice.begin(), finding.advice.end(), [&](const Advice& advice) {
    return !advice.gain || advice.gain->factor() >= least_gain;
  });
  finding.without_gain.assign(useless, finding.advice.end());
  finding.advice.erase(useless, finding.advice.end());
  const bool has_code = std::any_of(finding.advice.begin(), finding.advice.end(),
                                    [](const Advice& advice) { return advice.code.has_value(); });
  if (finding.without_gain.empty() || has_code) return;
  finding.without_gain.insert(finding.without_gain.end(), finding.advice.begin(), finding.advice.end());
  finding.advice.clear();
}

/// The fixes that any finding of this host advises.
std::vector<Fix> advised_fixes(const std::vector<Finding>& findings, std::size_t host) {
  std::vector<Fix> fixes;
  for (const Finding& finding : findings) {
    if (finding.host != host) continue;
    for (const std::vector<Advice>* list : {&finding.advice, &finding.without_gain}) {
      for (const Advice& advice : *list) fixes.insert(fixes.end(), advice.fixes.begin(), advice.fixes.end());
    }
  }
  return fixes;
}

/// What a model knows of this host and no rule advises.
std::vector<Advice> fixes_nobody_advises(Throughput& throughput, const std::vector<Fix>& advised, double least_gain) {
  const HostMeasurement& host = throughput.host();
  std::vector<Advice> added;
  std::vector<Fix> candidates = throughput.candidates();
  if (candidates.size() > kMostAdded) candidates.resize(kMostAdded);
  for (Fix& fix : candidates) {
    if (fix.kind == FixKind::cache) fix.iterator = place_of_cache_after(host, fix.iterator);
    const auto is_same = [&](const Fix& other) {
      const bool is_placed = other.kind == FixKind::cache && other.iterator != kNoIterator;
      return fix.kind == other.kind &&
             fix.iterator == (is_placed ? place_of_cache_after(host, other.iterator) : other.iterator);
    };
    const auto is_added = [&](const Advice& advice) { return is_same(advice.fixes.front()); };
    if (std::any_of(advised.begin(), advised.end(), is_same)) continue;
    if (std::any_of(added.begin(), added.end(), is_added)) continue;
    if (!has_advice_for(host, fix)) continue;
    const double least = std::max(least_gain, kClearGain);
    if (throughput.most_gain_of(fix) < least) continue;
    Gain gain = throughput.gain_of(std::span(&fix, 1));
    if (gain.factor() < least) continue;
    Advice& advice = added.emplace_back(*advice_for(host, fix));
    advice.gain = std::move(gain);
    advice.is_unproven = is_unproven(host, advice);
  }
  return added;
}

/// Among settings whose gain is not predicted.
enum class Promise {
  easy,     ///< the rule says that it is sure to gain
  usual,    ///< of the culprit, or of what stands in its way
  overlap,  ///< a prefetch at the end, or one iterator for all epochs: they cannot hide all of the wait
};

/// Where a change stands in the ranking: less is earlier.
struct Place {
  Rank rank = Rank::rewrite;
  double size = 0;  ///< of the gain, larger ones first
  bool is_certain = false;
  Promise promise = Promise::usual;
  bool is_of_note = false;

  bool operator<(const Place& other) const {
    return std::tuple(rank, -size, !is_certain, promise, is_of_note) <
           std::tuple(other.rank, -other.size, !other.is_certain, other.promise, other.is_of_note);
  }
};

Promise promise_of(const Finding& finding, const Advice& advice) {
  if (finding.is_easy) return Promise::easy;
  const bool changes_loop = !advice.fixes.empty() && (advice.fixes.front().kind == FixKind::prefetch ||
                                                      advice.fixes.front().kind == FixKind::iterate_once);
  return changes_loop ? Promise::overlap : Promise::usual;
}

/// nullopt for what changes nothing: a sentence, or what a note advises without a word on what it brings.
std::optional<Place> place_of(const Finding& finding, const Advice& advice) {
  const bool is_note = finding.severity == Severity::note;
  const bool is_change = advice.code || !advice.fixes.empty();
  if (!is_change || (is_note && !advice.gain) || finding.suppressed) return std::nullopt;
  return Place{rank_of(finding, advice), advice.gain ? size_of(*advice.gain) : 0,
               advice.gain && is_certain(*advice.gain), promise_of(finding, advice), is_note};
}

std::optional<Place> best_place(const Finding& finding) {
  std::optional<Place> best;
  for (const Advice& advice : finding.advice) {
    const std::optional<Place> place = place_of(finding, advice);
    if (place && (!best || *place < *best)) best = place;
  }
  return best;
}

const Advice& advice_of(const std::vector<Finding>& findings, const Change& change) {
  return findings[change.finding].advice[change.advice];
}

std::vector<Change> changes_by_place(const std::vector<Finding>& findings) {
  std::vector<std::pair<Place, Change>> placed;
  for (std::size_t finding = 0; finding < findings.size(); ++finding) {
    for (std::size_t advice = 0; advice < findings[finding].advice.size(); ++advice) {
      const std::optional<Place> place = place_of(findings[finding], findings[finding].advice[advice]);
      if (place) placed.push_back({*place, {finding, advice, {}, {}, false}});
    }
  }
  std::stable_sort(placed.begin(), placed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  if (placed.size() > kMostChanges) placed.resize(kMostChanges);
  std::vector<Change> changes;
  changes.reserve(placed.size());
  for (auto& [place, change] : placed) changes.push_back(std::move(change));
  return changes;
}

/// Several rules may advise one change.
bool says_same(const Advice& a, const Advice& b) {
  return a.code == b.code && (a.fixes == b.fixes || a.fixes.empty() || b.fixes.empty());
}

void predict_together(Throughputs& throughputs, const std::vector<Finding>& findings, std::vector<Change>& changes) {
  if (throughputs.empty() || !throughputs.front().is_for_report()) return;
  std::vector<Fix> fixes;
  std::size_t count = 0;
  const auto host_of = [&](const Change& change) { return findings[change.finding].host; };
  for (Change& change : changes) {
    const Advice& advice = advice_of(findings, change);
    const bool is_sure = rank_of(findings[change.finding], advice) == Rank::sure_gain;
    if (!is_sure || change.instead_of || host_of(change) != host_of(changes.front())) continue;
    fixes.insert(fixes.end(), advice.fixes.begin(), advice.fixes.end());
    if (++count == 1) continue;
    Throughput& throughput = throughputs[*host_of(change)];
    change.together = throughput.gain_of(fixes);
    limit_to(change.together->then, throughput.without_input());
    if (count == kMostTogether) return;
  }
}

/// Sets the gain of what rules advise, or why there is none, and takes out what gains too little.
void predict_advice(Throughputs& throughputs, const Judgement& judgement, double least_gain,
                    std::vector<Finding>& findings) {
  std::vector<std::size_t> predictions(throughputs.size(), 0);
  for (Finding& finding : findings) {
    if (!finding.host || !finding.pipeline) continue;
    const PipelineJudgement& judged = judgement.pipelines[*finding.pipeline];
    Throughput& throughput = throughputs[judged.host];
    for (Advice& advice : finding.advice) advice.is_unproven = is_unproven(throughput.host(), advice);
    if (!judged.is_slow()) continue;
    const PipelineMeasurement& pipeline = throughput.host().pipelines[judged.pipeline];
    const bool has_model = throughput.tells_gains_of(pipeline);
    for (Advice& advice : finding.advice) {
      if (has_model && !advice.fixes.empty() && predictions[judged.host] < kMostPredictions) {
        ++predictions[judged.host];
        advice.gain = throughput.gain_of(advice.fixes);
      } else if (advice.code || !advice.fixes.empty()) {
        advice.no_gain_because = why_no_gain(throughput, pipeline, has_model, advice);
      }
    }
    keep_what_gains(least_gain, finding);
  }
}

}  // namespace

bool brings_more(const Gain& a, const Gain& b) {
  const bool is_sure = a.then.condition == Condition::none;
  if (is_sure != (b.then.condition == Condition::none)) return is_sure;
  return std::pair(size_of(a), is_certain(a)) > std::pair(size_of(b), is_certain(b));
}

void predict_gains(Throughputs& throughputs, const Judgement& judgement, double least_gain,
                   std::vector<Finding>& findings) {
  predict_advice(throughputs, judgement, least_gain, findings);
  // Of the worst pipeline of each host: the model is of its consumer, which may take elements of thousands in turn.
  std::vector<bool> is_done(throughputs.size(), false);
  for (Finding& finding : findings) {
    if (!finding.states_verdict || !finding.host || !finding.pipeline || is_done[*finding.host]) continue;
    const PipelineJudgement& judged = judgement.pipelines[*finding.pipeline];
    Throughput& throughput = throughputs[judged.host];
    if (!judged.is_slow() || !throughput.tells_gains_of(throughput.host().pipelines[judged.pipeline])) continue;
    is_done[*finding.host] = true;
    std::vector<Advice> added = fixes_nobody_advises(throughput, advised_fixes(findings, judged.host), least_gain);
    finding.advice.insert(finding.advice.end(), added.begin(), added.end());
  }
  for (Finding& finding : findings) {
    std::stable_sort(finding.advice.begin(), finding.advice.end(), [](const Advice& a, const Advice& b) {
      return a.gain && b.gain && brings_more(*a.gain, *b.gain);
    });
  }
}

void order_by_changes(std::vector<Finding>& findings) {
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    if (a.severity != b.severity) return a.severity > b.severity;
    const std::optional<Place> of_a = best_place(a);
    const std::optional<Place> of_b = best_place(b);
    if (!of_a || !of_b) return of_a.has_value() && !of_b;
    return *of_a < *of_b;
  });
}

std::vector<Change> rank_changes(Throughputs& throughputs, const std::vector<Finding>& findings) {
  std::vector<Change> changes;
  for (const Change& next : changes_by_place(findings)) {
    const Advice& advice = advice_of(findings, next);
    const auto is_like = [&](const Change& other, auto holds) {
      return findings[other.finding].host == findings[next.finding].host && holds(advice_of(findings, other), advice);
    };
    if (std::any_of(changes.begin(), changes.end(), [&](const Change& other) { return is_like(other, says_same); })) {
      continue;
    }
    Change& change = changes.emplace_back(next);
    change.is_unproven = rank_of(findings[next.finding], advice) == Rank::unproven;
    const auto before = std::find_if(changes.begin(), changes.end() - 1,
                                     [&](const Change& other) { return is_like(other, is_alternative_to); });
    if (before != changes.end() - 1) {
      change.instead_of = before->instead_of.value_or(static_cast<std::size_t>(before - changes.begin()));
    }
  }
  predict_together(throughputs, findings, changes);
  return changes;
}

}  // namespace doctor
