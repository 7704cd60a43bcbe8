#pragma once

#include "base/result.h"
#include "base/work.h"
#include "convert/event_writer.h"
#include "trace/trace.h"

namespace doctor {

/// Tests whether times on two clocks, in nanoseconds, are close enough for one document. Files of one run are minutes
/// apart, TF1 timelines of one job may be weeks: 26 days are allowed. A clock that is farther away is another clock,
/// and its times would soon exceed 64 bits of picoseconds.
bool are_related(std::int64_t a_ns, std::int64_t b_ns);

/// A file whose events were written.
struct ConvertedFile {
  TraceFile file;
  std::uint64_t event_count = 0;  ///< events in the file, including lost ones
  Loss loss;
  std::int64_t zero_ns = 0;  ///< the origin of the output's times, in nanoseconds on the clock of this file
};

struct Conversion {
  std::vector<ConvertedFile> files;  ///< in the order given, without those that could not be read
  std::vector<Error> unreadable;     ///< why files could not be read, in the order given
};

/// Writes the events of all files, one file after another, each event as it is read. Times count from the first event
/// of all files (Perfetto drops events before 0), for an XSpace from the start of its profile.
///
/// Files are aligned by their own origins (EventHeader::origin_ns), as far as the clocks of their hosts agree; two
/// recordings of one process by what both contain (find_recording_pairs()). A file whose clock is too far from that of
/// the first file starts together with it, which its loss says (`clock_unrelated`). A file that cannot be read does not
/// stop the others. With several files, the names are read beforehand, so once more.
///
/// `writer` is not ended: the caller decides whether there is anything to write.
Conversion convert(std::span<const std::string> files, EventWriter& writer, const WorkOptions& work);

}  // namespace doctor
