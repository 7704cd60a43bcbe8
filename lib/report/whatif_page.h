#pragma once

#include "diagnose/ideal_run.h"
#include "diagnose/whatif.h"
#include "text/json_page.h"
#include "text/text_page.h"

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

// `whatif` in words, for a person. What is foreign in them (names of a trace) is not escaped yet.

/// "34.1 (30.2 to 38)".
std::string rate_range(const Prediction& prediction);

/// "2.04x (1.83x to 2.22x)".
std::string gain_range(const WhatIfHost& host, const Prediction& prediction);

/// ".map(f, num_parallel_calls=AUTOTUNE)", ".cache() after Dataset.map".
std::string words_of(const WhatIfHost& host, const Fix& fix);
/// All of them, with "+" between.
std::string words_of(const WhatIfHost& host, const std::vector<Fix>& fixes);

/// "Dataset.map: one thread", "your model". `fixes` are those after which this is the bottleneck.
std::string limit_words(const WhatIfHost& host, const Bottleneck& bottleneck, std::span<const Fix> fixes);

/// Empty for none.
std::string condition_words(const Prediction& prediction);

/// The host, and the pipeline where the predictions are of one.
std::string host_title(const WhatIfHost& host);

/// The rate now and what limits it.
std::string base_line(const WhatIfHost& host);

/// The rate if the input cost nothing.
std::string ceiling_line(const WhatIfHost& host);

/// How far it is to the ceiling that was measured; the host must have a gap().
std::string gap_line(const WhatIfHost& host);

/// What weakens the predictions of a host.
std::vector<std::string> whatif_cautions(const WhatIfHost& host);

// `whatif`: what fixes are predicted to bring.

/// For a person: the rate now, the ceiling, and a table of fixes; of all hosts the worst first. Only the fixes and the
/// plan that were asked for where any were.
std::string render_whatif_text(const WhatIfView& view, const TextStyle& style);

/// All of it as `tfdata-doctor.whatif/1`.
OrderedJson whatif_json(const WhatIfView& view);

/// A line for each fix, or only for those that were asked for, with a header. Hosts whose pipelines these cannot change
/// are left out.
std::string render_whatif_csv(const WhatIfView& view);

/// The same page in Markdown, for a comment or a report.
std::string render_whatif_markdown(const WhatIfView& view, const TextStyle& style = {});

}  // namespace doctor
