#pragma once

#include <string>
#include <string_view>

namespace doctor {

// Texts that the help pages and the manual share.

/// What TRACE may be, and the exit status.
inline constexpr std::string_view kHelpFooter =
    "TRACE is a file (*.xplane.pb, *.trace.json, timeline_*.json, gzipped or not), - for standard input, the "
    "directory\n"
    "of a profiling run, or a TensorBoard log directory (its newest run is taken). Several files are hosts of one "
    "run;\n"
    "TF1 timelines are steps of one host.\n"
    "\n"
    "Exit status: 0 analysed, no finding at or above --fail-on and no budget exceeded; 1 such a finding or budget; 2 "
    "wrong\n"
    "usage, unreadable input, output that could not be written, or more memory needed than --max-memory allows; 3 "
    "nothing\n"
    "to judge: no tf.data events, too little evidence, or a budget that could not be evaluated.\n";

/// The lines that show how the program is called.
std::string program_usage();

/// "tree: …" for every page of `show`, a line each, and which have CSV.
std::string page_help();

}  // namespace doctor
