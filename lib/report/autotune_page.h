#pragma once

#include <string>

#include "diagnose/diagnose.h"
#include "diagnose/tuning.h"
#include "text/columns.h"
#include "text/json_page.h"

namespace doctor {

// `show autotune`: what the stages of each pipeline were given and chose.

/// A table for each pipeline, and its budgets.
std::string render_autotune_text(const Measurements& measurements, const Diagnosis& diagnosis, PageWidth width = {});

/// The same as `tfdata-doctor.autotune/1`, with the histories of all attributes.
OrderedJson autotune_json(const Measurements& measurements, const Diagnosis& diagnosis);

/// "RAM: 10,527 MB for buffers, 0 MB in them at the end, ...", a line; empty if the trace says nothing of it.
std::string ram_line(const AutotuneBudget& budget);

/// One line for each attribute of each iterator, with a header.
std::string render_autotune_csv(const Measurements& measurements, const Diagnosis& diagnosis);

}  // namespace doctor
