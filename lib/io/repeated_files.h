#pragma once

#include <string>
#include <vector>

namespace doctor {

/// Removes files whose content another file holds, so that nothing counts twice: the same file under another name, a
/// copy, and the same run of a host in a format with less information. Sorted, so that the order of the names changes
/// nothing.
std::vector<std::string> without_repeats(std::vector<std::string> files);

}  // namespace doctor
