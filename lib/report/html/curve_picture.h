#pragma once

#include "report/html/html_writer.h"
#include "text/json_page.h"

namespace doctor {

/// `curve` of `whatif`: steps a second by how many elements a map works on at once, with the band of nine predictions
/// out of ten, and where more bring next to nothing. `now`: steps a second today.
void add_curve(const OrderedJson& curve, double now, HtmlWriter& page);

}  // namespace doctor
