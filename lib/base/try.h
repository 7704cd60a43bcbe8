#pragma once

#include "base/result.h"

// Early returns of functions that return a Result.

// A name and a declaration cannot stand in parentheses. NOLINTBEGIN(bugprone-macro-parentheses)
#define DOCTOR_JOINED(first, second) first##second
#define DOCTOR_NAMED_BY_LINE(name, line) DOCTOR_JOINED(name, line)
#define DOCTOR_ASSIGN_OR_RETURN(tried, declaration, result)          \
  auto tried = (result);                                             \
  if (!tried) return ::doctor::Unexpected(std::move(tried).error()); \
  declaration = *std::move(tried)
// NOLINTEND(bugprone-macro-parentheses)

/// Returns the error of a Result, if it is one.
#define RETURN_IF_ERROR(result) \
  if (auto tried = (result); !tried) return ::doctor::Unexpected(std::move(tried).error())

/// Declares a variable with the value of a Result, or returns its error:
/// `ASSIGN_OR_RETURN(const std::string sql, sql_of(options));`.
#define ASSIGN_OR_RETURN(declaration, result) \
  DOCTOR_ASSIGN_OR_RETURN(DOCTOR_NAMED_BY_LINE(tried_, __LINE__), declaration, result)
