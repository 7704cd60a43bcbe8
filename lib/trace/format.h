#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "base/work.h"
#include "io/byte_source.h"
#include "trace/trace.h"

namespace doctor {

/// A trace format: one file of this folder, one line in formats.cpp.
struct Format {
  std::string_view name;         ///< as in the JSON report, e.g. "xspace"
  std::string_view description;  ///< for messages and --help

  /// Whether the uncompressed bytes at the start of a file (up to kSniffLength of them) look like this format.
  bool (*sniff)(std::string_view head);

  /// Reads a whole trace. Damage that leaves something readable is counted in Trace::loss; an Error means that
  /// nothing could be read.
  Result<Trace> (*read)(ByteSource& source, const WorkOptions& work);
};

/// How many bytes from the start of a file are shown to sniff().
inline constexpr std::size_t kSniffLength = std::size_t{64} * 1024;

/// All formats, in the order in which they are tried.
std::span<const Format> formats();

/// Reads a trace in whatever format its content tells. Errors: empty input, no known format, nothing readable.
Result<Trace> read_trace(ByteSource& source, const WorkOptions& work = {});

// One pair per format file.
bool sniff_xspace(std::string_view head);
Result<Trace> read_xspace(ByteSource& source, const WorkOptions& work = {});
bool sniff_tf1_timeline(std::string_view head);
Result<Trace> read_tf1_timeline(ByteSource& source, const WorkOptions& work = {});
bool sniff_chrome_json(std::string_view head);
Result<Trace> read_chrome_json(ByteSource& source, const WorkOptions& work = {});

}  // namespace doctor
