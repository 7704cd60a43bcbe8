#pragma once

#include <regex.h>

#include <memory>
#include <string>

#include "base/result.h"

namespace doctor {

struct TraceRow;

/// The key by which rows are grouped, to rank the groups.
class RowGrouping {
 public:
  /// Puts no row into a group.
  RowGrouping() = default;

  /// Parses "job", "line", "culprit", "pipeline", "host", or "path:REGEX": the first subexpression of an extended
  /// regular expression (POSIX), or the whole expression if it has none, as found in the path. `where` is the place of
  /// the text, for errors. Errors: none of these; not a regular expression.
  static Result<RowGrouping> parse(const std::string& text, const std::string& where);

  /// The text that was parsed; empty: there are no groups.
  const std::string& name() const { return name_; }

  /// The group of a row. Empty: it is in no group, because it does not have the key.
  std::string group_of(const TraceRow& row) const;

 private:
  std::string name_;
  std::string (*group_of_)(const TraceRow& row) = nullptr;
  std::shared_ptr<const regex_t> pattern_;  ///< for the path
};

}  // namespace doctor
