#include "measure/op_kind.h"

#include <algorithm>
#include <array>

namespace doctor {

bool is_python_op(std::string_view op_type) {
  static constexpr std::array<std::string_view, 4> kNames = {"PyFunc", "EagerPyFunc", "PyFuncStateless",
                                                             "NumpyFunction"};
  return std::find(kNames.begin(), kNames.end(), op_type) != kNames.end();
}

bool is_wrapper_op(std::string_view op_type) {
  static constexpr std::array<std::string_view, 14> kNames = {"IteratorGetNext",
                                                              "IteratorGetNextAsOptional",
                                                              "IteratorGetNextSync",
                                                              "IteratorGetNextV2",
                                                              "StatefulPartitionedCall",
                                                              "PartitionedCall",
                                                              "While",
                                                              "If",
                                                              "StatelessWhile",
                                                              "StatelessIf",
                                                              "ReduceDataset",
                                                              "GeneratorDataset",
                                                              "RemoteCall",
                                                              "MakeIterator"};
  return std::find(kNames.begin(), kNames.end(), op_type) != kNames.end() || op_type == "OneShotIterator";
}

}  // namespace doctor
