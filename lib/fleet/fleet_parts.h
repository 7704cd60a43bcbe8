#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "fleet/trace_row.h"

namespace doctor {

// The sums of a FleetCounter as lines of NDJSON, of which another one makes the same sums: what `fleet --partial`
// writes. Kinds of lines: "fleet", "culprit", "line", "rule", "group", "error", "pipeline", "run", and "end" after all
// others.

/// The kind of part that a line is; empty if it is none.
std::string_view kind_of_part(std::string_view line);

/// The last line of parts, after so many others.
std::string end_of_parts(std::uint64_t lines);

/// Tests whether a line is the last one of parts of which so many lines came before.
bool is_end_of_parts(std::string_view line, std::uint64_t lines);

/// A run of a job, as far as its history needs its row; `hash` is that of the whole row.
struct FleetRun {
  TraceRow row;
  std::uint64_t hash = 0;
};

std::string render_run(const TraceRow& row, std::uint64_t hash);

/// Errors: the line is not one of render_run().
Result<FleetRun> parse_run(std::string_view line);

}  // namespace doctor
