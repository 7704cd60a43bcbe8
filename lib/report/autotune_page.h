#pragma once

#include <string>

#include "diagnose/diagnose.h"
#include "text/columns.h"

namespace doctor {

// `show autotune`: what the stages of each pipeline were given and chose.

/// A table for each pipeline, and its budgets.
std::string render_autotune_text(const Measurements& measurements, const Diagnosis& diagnosis, PageWidth width = {});

/// The same as `tfdata-doctor.autotune/1`, with the histories of all attributes.
std::string render_autotune_json(const Measurements& measurements, const Diagnosis& diagnosis);

/// One line for each attribute of each iterator, with a header.
std::string render_autotune_csv(const Measurements& measurements, const Diagnosis& diagnosis);

}  // namespace doctor
