#pragma once

#include <cstdint>
#include <string>

#include "aggregate.h"

namespace bench {

// The main functions of the programs: usage, errors (exceptions), and one line of JSON as output.

/// `read` adds the events of the file at `path` to the aggregate. Prints its summary.
int aggregate_main(int argc, char** argv, void (*read)(const std::string& path, Aggregate& aggregate));

/// What a floor met; printed so that no compiler can leave the work out.
struct Scanned {
  std::uint64_t bytes = 0;       ///< uncompressed
  std::uint64_t structures = 0;  ///< brackets, strings and numbers; fields
};

int floor_main(int argc, char** argv, Scanned (*scan)(const std::string& path));

}  // namespace bench
