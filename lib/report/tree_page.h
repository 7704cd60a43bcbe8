#pragma once

#include <string>

#include "diagnose/diagnose.h"
#include "measure/measurements.h"
#include "text/columns.h"
#include "text/json_page.h"

namespace doctor {

// `show tree`.

/// The iterator trees with their times, pipelines in the order of the judgement; roots that no call of a consumer was
/// seen of come last.
std::string render_tree_text(const Measurements& measurements, const Diagnosis& diagnosis, PageWidth width = {});

/// The same as `tfdata-doctor.tree/2`: the array `pipelines` of the report, and `other_iterators`.
OrderedJson tree_json(const Measurements& measurements, const Diagnosis& diagnosis);

}  // namespace doctor
