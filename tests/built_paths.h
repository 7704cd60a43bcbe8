#pragma once

#include <string>

/// Where the build put things. Functions of one small file, not macros in every test: so that a test's object does not
/// depend on the folder of the checkout, and a compiler cache serves every checkout of a machine.
namespace doctor {

/// The folder of the source tree.
std::string source_dir();

/// The program that was built beside the tests; empty in a build without it.
const std::string& tool_path();

/// The library that intrusion_test.cpp has loaded into the program.
std::string intruder_path();

/// The library that lying_worker_test.cpp loads into the program.
std::string lying_worker_path();

}  // namespace doctor
