#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "batch/path_set.h"

namespace doctor {

/// The traces that have a row already. JSON is UTF-8, so what is not in a path is U+FFFD in its row: of paths that are
/// alike there, as many count as done as there are rows, in the order of the list.
class DoneTraces {
 public:
  /// A path as its row has it.
  void add(const std::string& path_in_row);

  /// Whether the trace has a row, which then counts for no other path.
  bool take(const std::string& path);

 private:
  PathSet paths_;
  std::map<std::string, std::size_t> inexact_;  ///< rows, by paths with a U+FFFD
};

}  // namespace doctor
