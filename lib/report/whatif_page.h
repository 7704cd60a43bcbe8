#pragma once

#include <span>
#include <string>

#include "diagnose/ideal_run.h"
#include "diagnose/whatif.h"
#include "text/text_page.h"

namespace doctor {

// `whatif`: what fixes are predicted to bring.

/// What the page is about. Refers to all of it.
struct WhatIfView {
  const Measurements& measurements;
  const Diagnosis& diagnosis;
  std::span<const HostPredictions> hosts;
  const WhatIfRequest& request;     ///< of the predictions
  double min_gain = kLeastGain;     ///< single fixes below it are only named
  const IdealRun* ideal = nullptr;  ///< the measured ceiling, for predictions on the machine as it is; may be null
};

/// For a person: the rate now, the ceiling, and a table of fixes; of all hosts the worst first. Only the fixes and the
/// plan that were asked for where any were.
std::string render_whatif_text(const WhatIfView& view, const TextStyle& style);

/// All of it as `tfdata-doctor.whatif/1`.
std::string render_whatif_json(const WhatIfView& view);

/// A line for each fix, or only for those that were asked for, with a header.
std::string render_whatif_csv(const WhatIfView& view);

/// The rate and the same fixes as a table, for a comment or a report.
std::string render_whatif_markdown(const WhatIfView& view);

}  // namespace doctor
