#pragma once

#include "text/json_page.h"

namespace doctor {

/// Makes a document one that can be sent to others: folders are dropped from the names of traces, for they may say
/// whose they are; and lists are cut to what a person looks at, so that a page is small however large its trace is. The
/// number of entries that are gone from a list stands beside it, as `<list>_left_out`; series over time are thinned out
/// instead, their ends stay. Of the pipelines those go first whose calls are the waits of another.
void bound_for_page(OrderedJson& document);

}  // namespace doctor
