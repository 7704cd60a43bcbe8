#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace doctor {

/// Writes a page to `path`, or to standard output if it is empty or "-". A regular file appears as a whole or not at
/// all: a temporary file beside it takes its name at the end. Errors: whatever keeps the last byte from being stored.
Result<void> write_output(std::string_view page, const std::string& path);

/// Refuses to overwrite one of the inputs.
Result<void> check_output(const std::string& path, std::span<const std::string> inputs);

/// Writes "tfdata-doctor: " and the error on one line to standard error, its foreign text escaped. Silent where the
/// reader of our output went away on purpose (`tfdata-doctor … | head`).
void print_error(const Error& error);

/// Progress, timings and warnings: standard error, escaped by the caller.
void print_note(std::string_view text);

}  // namespace doctor
