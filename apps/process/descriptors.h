#pragma once

#include <vector>

namespace doctor {

/// The numbers of all descriptors of this process.
std::vector<int> open_descriptors();

/// Closes all other descriptors, so that a forked process has nothing of its parent. The standard streams lead to
/// /dev/null unless they are kept.
void close_descriptors_but(const std::vector<int>& kept);

}  // namespace doctor
