#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace doctor {

/// The file that a shell would run for a name; empty if there is none. Relative folders of PATH are left out.
std::string program_on_path(const std::string& name);

/// Runs a program, without a shell, and hands over what it writes to standard output as it comes. It starts in
/// `folder`, has nothing of this process open, and reads nothing. Errors: it cannot be started, is silent for two
/// minutes, takes more than an hour, or ends with a status other than 0 (with the last line that it wrote to standard
/// error); what `take` returns, after which it is ended.
Result<void> run_command(const std::vector<std::string>& words, const std::string& folder,
                         const std::function<Result<void>(std::string_view)>& take);

}  // namespace doctor
