#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/ideal_run.h"
#include "diagnose/whatif.h"

namespace doctor {

/// What the page is about. Refers to all of it.
struct WhatIfView {
  const Measurements& measurements;
  const Diagnosis& diagnosis;
  std::span<const HostPredictions> hosts;
  const WhatIfRequest& request;     ///< of the predictions
  double min_gain = kLeastGain;     ///< single fixes below it are only named
  const IdealRun* ideal = nullptr;  ///< the measured ceiling, for predictions on the machine as it is; may be null
};

/// One host's part of the page of `whatif`.
struct WhatIfHost {
  const WhatIfView& view;
  const HostPredictions& predicted;

  const HostMeasurement& measured() const { return view.measurements.hosts[predicted.host]; }
  bool has_model() const { return !predicted.why_none; }
  bool knows_cores() const { return view.request.cores || measured().cycles.knows_cores; }
  double gain_of(double rate) const { return predicted.now > 0 ? rate / predicted.now : 1; }
  double gain_of(const PredictedFixes& fixes) const { return gain_of(fixes.prediction.estimate); }
  bool is_worth_it(const PredictedFixes& fixes) const { return gain_of(fixes) >= view.min_gain; }

  /// To the ceiling that was measured, if there is one.
  std::optional<IdealGap> gap() const {
    return view.ideal != nullptr && has_model() ? std::optional(gap_to(*view.ideal, predicted)) : std::nullopt;
  }
  bool has_open_gap() const { return view.ideal != nullptr && has_model() && gap_to(*view.ideal, predicted).is_open(); }
  /// Which part of that gap the fixes close; nullopt where none is open.
  std::optional<double> closes(const PredictedFixes& fixes) const {
    const std::optional<IdealGap> open = gap();
    if (!open || !open->is_open()) return std::nullopt;
    return open->closed_by(open->from * gain_of(fixes));
  }
};

/// In the order of the judgement; those without a judged pipeline, and then those without a model, last.
std::vector<WhatIfHost> worst_hosts_first(const WhatIfView& view);

/// Of its pipeline; empty if the predictions are of several pipelines together.
std::string id_of(const WhatIfHost& host);

/// The iterator that works at a bottleneck; kNoIterator: none, or a prefetch that only the fix puts there.
IteratorId iterator_at(const WhatIfHost& host, const Bottleneck& bottleneck);

/// The fixes as --fix takes them.
std::string spec_of(const WhatIfHost& host, const PredictedFixes& fixes, std::string_view between);

/// Those that were asked for, else each fix and all that go together.
std::vector<const PredictedFixes*> tabled_fixes(const HostPredictions& predicted);

/// Where fixes are asked for, hosts whose pipelines they cannot change are left out.
bool is_tabled(const WhatIfHost& host);

}  // namespace doctor
