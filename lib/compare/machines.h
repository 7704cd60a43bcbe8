#pragma once

#include <span>
#include <string>
#include <vector>

#include "compare/run_summary.h"

namespace doctor {

/// Whether base and candidate were recorded on one machine, as far as the recordings say.
struct MachineComparison {
  bool is_other = false;                 ///< no recording of one side was made on a machine of the other
  std::vector<std::string> differences;  ///< of the machines: "cores: 2 -> 16"; only if they are others
  std::vector<std::string> notes;        ///< what else is not the same, and what is not known
};

MachineComparison compare_machines(std::span<const RunSummary> base, std::span<const RunSummary> candidate);

/// The recordings that were made on a machine of the other side, or may have been; all, where none was.
std::vector<RunSummary> on_machines_of(std::span<const RunSummary> runs, std::span<const RunSummary> others);

}  // namespace doctor
