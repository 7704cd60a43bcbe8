#pragma once

#include "trace/string_table.h"

namespace doctor {

/// The meaning of an op's time.
enum class OpKind : std::uint8_t {
  ordinary,
  python,   ///< runs Python code and holds its lock
  parser,   ///< parses a serialized record, or a whole batch with one call
  wrapper,  ///< only contains other ops or waits for them: their time is counted there
};

OpKind op_kind_of(std::string_view op_type);

/// The kinds of all strings of a trace as op types, indexed by StringId: a trace has millions of ops of few types.
std::vector<OpKind> op_kinds_of(const StringTable& strings);

inline bool is_python_op(std::string_view op_type) {
  return op_kind_of(op_type) == OpKind::python;
}

inline bool is_parser(std::string_view op_type) {
  return op_kind_of(op_type) == OpKind::parser;
}

/// Tests whether the time of an op is that of files: it reads, lists or writes them.
bool waits_for_files(std::string_view op_type);

}  // namespace doctor
