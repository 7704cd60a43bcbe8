#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "io/file_descriptor.h"
#include "trace/format.h"

namespace doctor {

/// A file to load.
struct QueryInput {
  std::string path;                ///< to read it from
  std::string name;                ///< what the tables call it: the path, or "standard input"
  std::string sha256;              ///< empty: not asked for
  const Format* format = nullptr;  ///< of a trace; null for rows of `batch`
};

struct QueryInputs {
  std::vector<QueryInput> traces;  ///< by name, each content once: the order in which they were named changes nothing
  std::vector<QueryInput> rows;    ///< likewise
  std::vector<std::string> repeated;  ///< names of those left out: what they hold is among the others
  std::vector<Error> unreadable;
  FileDescriptor standard_input;  ///< an unlinked copy of it, where it was named
};

/// Looks at what was named: rows of `batch` and traces are distinguished by content. What cannot be read does not stop
/// the others. To compute the digest of a file takes as long as to count its events: it is left out of a single one for
/// which it is not wanted. Several are compared by it.
QueryInputs examine_inputs(const std::vector<std::string>& paths, bool wants_digests);

}  // namespace doctor
