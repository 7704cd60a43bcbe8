#include "tree/recreated_pipelines.h"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>
#include <vector>

namespace doctor {
namespace {

/// With one call each, replicas could seem to run one after the other.
constexpr std::uint64_t kFewestCalls = 2;

struct Extent {
  std::set<std::string_view> names;
  Picoseconds first_start = std::numeric_limits<Picoseconds>::max();
  Picoseconds last_start = std::numeric_limits<Picoseconds>::min();
  std::uint64_t root_calls = 0;
};

/// Pipelines of the same names, each after the one before it.
struct Chain {
  std::uint64_t first = 0;
  std::uint32_t count = 0;
  Picoseconds last_start = 0;
};

}  // namespace

std::map<std::uint64_t, Iteration> find_recreated_pipelines(std::span<const PipelineMember> members) {
  std::map<std::uint64_t, Extent> extents;
  for (const PipelineMember& member : members) {
    if (member.pipeline == 0) continue;
    Extent& extent = extents[member.pipeline];
    extent.names.insert(member.name);
    extent.first_start = std::min(extent.first_start, member.first_start);
    extent.last_start = std::max(extent.last_start, member.last_start);
    if (member.is_root) extent.root_calls += member.event_count;
  }
  std::vector<std::pair<std::uint64_t, const Extent*>> by_start;
  for (const auto& [pipeline, extent] : extents) {
    if (extent.root_calls >= kFewestCalls) by_start.emplace_back(pipeline, &extent);
  }
  std::stable_sort(by_start.begin(), by_start.end(),
                   [](const auto& a, const auto& b) { return a.second->first_start < b.second->first_start; });

  std::map<std::uint64_t, Iteration> iterations;
  std::map<std::set<std::string_view>, std::vector<Chain>> chains_of_names;
  for (const auto& [pipeline, extent] : by_start) {
    std::vector<Chain>& chains = chains_of_names[extent->names];
    const Picoseconds start = extent->first_start;
    const auto chain =
        std::find_if(chains.begin(), chains.end(), [&](const Chain& known) { return known.last_start < start; });
    if (chain == chains.end()) {
      chains.push_back({pipeline, 1, extent->last_start});
      continue;
    }
    iterations[pipeline] = {chain->first, chain->count};
    ++chain->count;
    chain->last_start = extent->last_start;
  }
  return iterations;
}

}  // namespace doctor
