#pragma once

#include <string>

#include "report/whatif_view.h"
#include "text/json_page.h"
#include "text/text_page.h"

namespace doctor {

// `whatif`: what fixes are predicted to bring.

/// For a person: the rate now, the ceiling, and a table of fixes; of all hosts the worst first. Only the fixes and the
/// plan that were asked for where any were.
std::string render_whatif_text(const WhatIfView& view, const TextStyle& style);

/// All of it as `tfdata-doctor.whatif/1`.
OrderedJson whatif_json(const WhatIfView& view);

/// A line for each fix, or only for those that were asked for, with a header.
std::string render_whatif_csv(const WhatIfView& view);

/// The rate and the same fixes as a table, for a comment or a report.
std::string render_whatif_markdown(const WhatIfView& view);

}  // namespace doctor
