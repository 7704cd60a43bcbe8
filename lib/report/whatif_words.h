#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/whatif_view.h"

namespace doctor {

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

}  // namespace doctor
