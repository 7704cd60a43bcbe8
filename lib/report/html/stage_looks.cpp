#include "report/html/stage_looks.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "text/document_keys.h"

namespace doctor {

StageLooks::StageLooks(const OrderedJson& pipeline) {
  const OrderedJson* const judged = find_value(pipeline, key::culprit);
  const std::string culprit = judged == nullptr ? std::string() : text_of(*judged, key::long_name);
  if (!culprit.empty()) looks_[culprit] = "hot";
  // Who holds most of the wait; where nobody waits, who works most.
  std::vector<std::pair<double, std::string>> others;
  for (const OrderedJson& iterator : list_of(pipeline, key::iterators)) {
    const double time = culprit.empty() ? number_of(iterator, key::self_us) + number_of(iterator, key::function_us)
                                        : number_of(iterator, key::critical_us);
    const std::string name = text_of(iterator, key::long_name);
    if (name != culprit && time > 0) others.emplace_back(-time, name);
  }
  std::sort(others.begin(), others.end());
  constexpr std::array<std::string_view, 4> kLooks = {"s2", "s3", "s4", "s5"};
  for (std::size_t rank = 0; rank < std::min(kLooks.size(), others.size()); ++rank) {
    looks_[others[rank].second] = kLooks[rank];
  }
}

std::string StageLooks::of(std::string_view long_name) const {
  const auto found = looks_.find(long_name);
  return found == looks_.end() ? "other" : found->second;
}

}  // namespace doctor
