#pragma once

#include <string>

#include "report/html/html_writer.h"
#include "text/json_page.h"

namespace doctor {

// What sets the pace, drawn from `pace` of a report: a bar for each stage and the training, dashed lines for a step now
// and after the first change.

/// The picture as part of a page.
void add_pace_picture(const OrderedJson& pace, HtmlWriter& page);

/// The same as a picture of its own, for a comment or a notebook: it loads nothing and follows the colours of the
/// reader. Empty where there is no pace.
std::string render_pace_svg(const OrderedJson& pace);

}  // namespace doctor
