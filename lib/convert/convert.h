#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/work.h"
#include "convert/event_writer.h"
#include "trace/trace.h"

namespace doctor {

/// Whether times on two clocks, in nanoseconds, are near enough to stand in one document. Files of one run are minutes
/// apart, TF1 timelines of one job may be weeks: 26 days are allowed. What is farther away has another clock, and would
/// not fit 64 bits of picoseconds much longer.
bool are_related(std::int64_t a_ns, std::int64_t b_ns);

/// A file whose events were written.
struct ConvertedFile {
  TraceFile file;
  std::uint64_t event_count = 0;  ///< in the file, those that were lost included
  Loss loss;
  std::int64_t zero_ns = 0;  ///< where times of the output count from, in nanoseconds on the clock of this file
};

struct Conversion {
  std::vector<ConvertedFile> files;  ///< in the order given, without those that could not be read
  std::vector<Error> unreadable;     ///< why files could not be read, in the order given
};

/// Writes the events of all files, one file after another, each event as it is read. Times count from the first event
/// of all files (Perfetto drops what is before 0), of an XSpace from the start of its profile. Files are put beside
/// each other by their own origins (EventHeader::origin_ns), as far as the clocks of their hosts agree; two recordings
/// of one process by what both have (find_recording_pairs()). A file whose
/// clock is too far from that of the first file starts with it, which its loss says (`clock_unrelated`). A file that
/// cannot be read does not stop the others. Of several files the names are read beforehand, once more.
///
/// `writer` is not ended: who calls decides whether there is anything to write.
Conversion convert(std::span<const std::string> files, EventWriter& writer, const WorkOptions& work);

}  // namespace doctor
