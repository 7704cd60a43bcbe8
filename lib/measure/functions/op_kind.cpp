#include "measure/functions/op_kind.h"

#include <algorithm>
#include <array>

namespace doctor {

OpKind op_kind_of(std::string_view op_type) {
  static constexpr std::array<std::string_view, 4> kPython = {"PyFunc", "EagerPyFunc", "PyFuncStateless",
                                                              "NumpyFunction"};
  static constexpr std::array<std::string_view, 3> kParsers = {"ParseExampleV2", "ParseExample", "ParseSingleExample"};
  static constexpr std::array<std::string_view, 15> kWrappers = {
      {"IteratorGetNext", "IteratorGetNextAsOptional", "IteratorGetNextSync", "IteratorGetNextV2",
       "StatefulPartitionedCall", "PartitionedCall", "While", "If", "StatelessWhile", "StatelessIf", "ReduceDataset",
       "GeneratorDataset", "RemoteCall", "MakeIterator", "OneShotIterator"}};
  if (std::find(kPython.begin(), kPython.end(), op_type) != kPython.end()) return OpKind::python;
  if (std::find(kParsers.begin(), kParsers.end(), op_type) != kParsers.end()) return OpKind::parser;
  const bool is_wrapper = std::find(kWrappers.begin(), kWrappers.end(), op_type) != kWrappers.end();
  return is_wrapper ? OpKind::wrapper : OpKind::ordinary;
}

std::vector<OpKind> op_kinds_of(const StringTable& strings) {
  std::vector<OpKind> kinds;
  for (std::size_t index = 0; index < strings.size(); ++index) {
    kinds.push_back(op_kind_of(strings[static_cast<StringId>(index)]));
  }
  return kinds;
}

bool waits_for_files(std::string_view op_type) {
  static constexpr std::array<std::string_view, 5> kOps = {"ReadFile", "MatchingFiles", "WriteFile", "RestoreV2",
                                                           "ReaderReadV2"};
  return std::find(kOps.begin(), kOps.end(), op_type) != kOps.end() || op_type.starts_with("IO>");
}

}  // namespace doctor
