#pragma once

#include <string>

#include "diagnose/diagnose.h"
#include "text/json_page.h"
#include "text/text_page.h"

namespace doctor {

// `checklist`: the questions of TensorFlow's guide "Analyze tf.data performance with the TF Profiler" in its order,
// each with the answer for the worst pipeline and the measurements that it rests on.

std::string render_checklist_text(const Measurements& measurements, const Diagnosis& diagnosis, const TextStyle& style);

/// All of it as `tfdata-doctor.checklist/1`.
OrderedJson checklist_json(const Measurements& measurements, const Diagnosis& diagnosis);

std::string render_checklist_markdown(const Measurements& measurements, const Diagnosis& diagnosis);

}  // namespace doctor
