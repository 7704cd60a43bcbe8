#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"

namespace doctor {

/// What keeps SQL that never ends from running for ever and from filling the disk. Made before the statement runs.
class QueryBounds {
 public:
  QueryBounds();

  /// Why the statement must end now, if it must.
  std::optional<Error> broken() const;

 private:
  std::uint64_t stored_before_;  ///< bytes of temporary files
  std::uint64_t most_stored_;
};

}  // namespace doctor
