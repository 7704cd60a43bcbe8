#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "trace/string_table.h"

namespace doctor {

/// What the time of an op means.
enum class OpKind : std::uint8_t {
  ordinary,
  python,   ///< runs Python code and holds its lock
  parser,   ///< parses a serialized record, or all of a batch with one call
  wrapper,  ///< only contains or waits for other ops: their time is counted where it is spent
};

OpKind op_kind_of(std::string_view op_type);

/// The kinds of all strings of a trace as op types, indexed by StringId: a trace has millions of ops of few types.
std::vector<OpKind> op_kinds_of(const StringTable& strings);

inline bool is_python_op(std::string_view op_type) {
  return op_kind_of(op_type) == OpKind::python;
}

/// Whether the time of an op is that of files: it reads, lists or writes them.
bool waits_for_files(std::string_view op_type);

}  // namespace doctor
