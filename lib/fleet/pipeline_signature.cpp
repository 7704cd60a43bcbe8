#include "fleet/pipeline_signature.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/hash.h"
#include "diagnose/dataset_words.h"
#include "report/selection.h"
#include "tree/dataset_kinds.h"

namespace doctor {
namespace {

/// What is in the tree only because of the runtime: its inputs take its place.
bool is_passed_over(const IteratorMeasurement& iterator) {
  return has_trait(iterator, Trait::frame) || is_injected(iterator);
}

std::string signature_of(std::string_view family, std::vector<std::string> inputs) {
  std::sort(inputs.begin(), inputs.end());
  inputs.erase(std::unique(inputs.begin(), inputs.end()), inputs.end());
  std::string text = std::string(family) + '(';
  for (const std::string& input : inputs) text += input + ',';
  return fmt::format("{:016x}", fnv1a_64(text + ')'));
}

}  // namespace

std::string signature_of(const HostMeasurement& host, const PipelineMeasurement& pipeline) {
  const std::vector<IteratorId> members = members_in_tree_order(host, pipeline);
  std::vector<bool> is_member(host.iterators.size(), false);
  for (const IteratorId member : members) is_member[index_of(member)] = true;
  std::vector<std::vector<std::string>> inputs(host.iterators.size());
  std::vector<std::string> roots;
  // From the inputs up: in tree order parents come before them.
  for (auto member = members.rbegin(); member != members.rend(); ++member) {
    const IteratorMeasurement& iterator = host.iterators[index_of(*member)];
    const bool has_parent = iterator.parent != kNoIterator && is_member[index_of(iterator.parent)];
    std::vector<std::string>& above = has_parent ? inputs[index_of(iterator.parent)] : roots;
    std::vector<std::string> own = std::move(inputs[index_of(*member)]);
    if (is_passed_over(iterator)) {
      above.insert(above.end(), own.begin(), own.end());
    } else {
      above.push_back(signature_of(family_of(iterator.short_name), std::move(own)));
    }
  }
  return roots.empty() ? std::string() : signature_of("", std::move(roots));
}

}  // namespace doctor
