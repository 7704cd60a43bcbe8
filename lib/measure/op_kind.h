#pragma once

#include <string_view>

namespace doctor {

/// Ops that run Python code and hold its lock.
bool is_python_op(std::string_view op_type);

/// Ops that only contain or wait for other ops: their time is counted where it is spent.
bool is_wrapper_op(std::string_view op_type);

}  // namespace doctor
