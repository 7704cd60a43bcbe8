#pragma once

#include <string>
#include <vector>

namespace doctor {

/// The files without those that hold what another one holds, so that nothing is counted twice: the same file under
/// another name, a copy of it, the same run of a host in a poorer format beside it. Sorted, so that the order in which
/// they were named changes nothing.
std::vector<std::string> without_repeats(std::vector<std::string> files);

}  // namespace doctor
