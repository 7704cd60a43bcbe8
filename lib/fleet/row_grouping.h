#pragma once

#include <regex.h>

#include <memory>
#include <string>

#include "base/result.h"

namespace doctor {

struct TraceRow;

/// What rows are put together by, to rank groups of them.
class RowGrouping {
 public:
  /// Puts no row into a group.
  RowGrouping() = default;

  /// "job", "line", "culprit", "pipeline", "host", or "path:REGEX": what the first subexpression of an extended regular
  /// expression (POSIX), or the whole of it where it has none, finds in the path. `where` is the place of the text, for
  /// errors. Errors: none of these; not a regular expression.
  static Result<RowGrouping> parse(const std::string& text, const std::string& where);

  /// As it was written; empty: there are no groups.
  const std::string& name() const { return name_; }

  /// Empty: the row is in no group, for it says nothing about that.
  std::string group_of(const TraceRow& row) const;

 private:
  std::string name_;
  std::string (*group_of_)(const TraceRow& row) = nullptr;
  std::shared_ptr<const regex_t> pattern_;  ///< of the path
};

}  // namespace doctor
