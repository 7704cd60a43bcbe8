#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace doctor {

/// The path as CI systems take it: relative to the working directory, which is taken for the root of the repository,
/// with '/' between its parts, none of which is '.' or '..'. Looks at no file. nullopt where there is no such path: a
/// URL, standard input, a file outside of the working directory, the directory itself. `working_directory` is absolute.
std::optional<std::string> repository_path(std::string_view path, std::string_view working_directory);

/// The same for a trace. One elsewhere is called by its file's name alone, which says nothing about the
/// machine, and standard input "standard-input": CI systems refuse a whole document for a single problem without a
/// path.
std::string trace_location(std::string_view path, std::string_view working_directory);

}  // namespace doctor
