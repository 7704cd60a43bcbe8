#include "measure/random_ops.h"

#include <algorithm>
#include <array>
#include <set>

namespace doctor {

bool is_random_op(std::string_view op_type) {
  static constexpr std::array<std::string_view, 5> kParts = {"Random", "Multinomial", "Distorted", "Crop",
                                                             "ProjectiveTransform"};
  return op_type.starts_with("Adjust") || std::any_of(kParts.begin(), kParts.end(), [&](std::string_view part) {
           return op_type.find(part) != std::string_view::npos;
         });
}

std::vector<std::vector<std::string>> random_ops_of(const Trace& trace, const IteratorForest& forest,
                                                    const FunctionOwners& owners) {
  std::vector<bool> is_random(trace.strings.size());  // indexed by StringId
  bool has_any = false;
  for (std::size_t index = 0; index < is_random.size(); ++index) {
    is_random[index] = is_random_op(trace.strings[static_cast<StringId>(index)]);
    has_any = has_any || is_random[index];
  }
  std::vector<std::vector<std::string>> names(forest.iterators.size());
  if (!has_any) return names;
  std::vector<std::set<StringId>> ops(forest.iterators.size());
  for (std::size_t lane = 0; lane < trace.lanes.size(); ++lane) {
    const ChunkedVector<OpCall>& calls = trace.lanes[lane].ops;
    for (std::size_t index = 0; index < calls.size(); ++index) {
      if (!is_random[index_of(calls[index].type)]) continue;
      const IteratorId owner = owners.of_op(lane, index);
      if (owner != kNoIterator) ops[index_of(owner)].insert(calls[index].type);
    }
  }
  for (std::size_t index = 0; index < ops.size(); ++index) {
    for (const StringId op : ops[index]) names[index].emplace_back(trace.strings[op]);
    std::sort(names[index].begin(), names[index].end());
  }
  return names;
}

}  // namespace doctor
