#include <numeric>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "tree/tree_passes.h"

namespace doctor {
namespace {

/// With one call each, replicas could seem to run one after the other.
constexpr std::uint64_t kFewestCalls = 2;

/// As many datasets that come once each are one that the program builds anew for every epoch. Two may be training and
/// validation.
constexpr std::size_t kFewestRebuilt = 3;

/// Chains that a life is compared with: more than a job has pipelines alike, and no more work for a hostile trace.
constexpr int kMostComparisons = 8;

std::string_view prefix_of(std::string_view name) {
  const std::size_t separator = name.rfind("::");
  return separator == std::string_view::npos ? std::string_view{} : name.substr(0, separator);
}

/// The long names of a chain's lives.
struct ChainNames {
  std::unordered_set<std::string_view> all;
  std::unordered_set<std::string_view> prefixes;  ///< those with something below

  void add(const PipelineLife& life) {
    for (const std::string_view name : life.names) {
      all.insert(name);
      prefixes.insert(prefix_of(name));
    }
  }
};

/// Lives of one pipeline, each after the one before it.
struct Chain {
  std::size_t first = 0;
  std::size_t last = 0;  ///< the latest life
  std::uint32_t count = 0;
  /// Null while they are those of the first life alone and nobody asked: most chains are of one life.
  std::unique_ptr<ChainNames> names;
};

/// Chains that may go on with a life, in the order of their last root calls.
using OpenChains = std::set<std::pair<Picoseconds, std::size_t>>;

class ChainFinder {
 public:
  explicit ChainFinder(std::span<const PipelineLife> lives) : lives_(lives), found_(lives.size()) {}

  std::vector<Iteration> find();

 private:
  void name_datasets();
  std::string key_of(std::size_t index) const;
  ChainNames& names_of(Chain& chain) const;
  bool agree(Chain& chain, const PipelineLife& life) const;
  bool follows(Chain& chain, const PipelineLife& life) const;
  std::optional<std::size_t> chain_for(const OpenChains& open, const PipelineLife& life);
  void add(std::size_t index, std::size_t chain_index);

  std::span<const PipelineLife> lives_;
  std::vector<Iteration> found_;
  std::vector<std::string> datasets_;  ///< indexed as lives_: what tells them apart; empty if nothing does
  std::vector<Chain> chains_;
};

/// Of lives made of the same transformations: nodes of datasets that come again tell pipelines apart, and so do two
/// that come once.
void ChainFinder::name_datasets() {
  std::unordered_map<std::string_view, std::size_t> counts;
  for (const PipelineLife& life : lives_) ++counts[life.dataset];
  std::unordered_map<std::uint64_t, std::set<std::string_view>> of_structure;
  for (const PipelineLife& life : lives_) {
    if (life.making && !life.dataset.empty()) of_structure[life.making->structure].insert(life.dataset);
  }
  std::unordered_map<std::uint64_t, std::size_t> single;  // nodes that come once
  for (const auto& [structure, datasets] : of_structure) {
    single[structure] = static_cast<std::size_t>(std::count_if(
        datasets.begin(), datasets.end(), [&](std::string_view dataset) { return counts[dataset] == 1; }));
  }
  for (const PipelineLife& life : lives_) {
    std::string& dataset = datasets_.emplace_back(life.dataset);
    if (!life.making) continue;
    const std::set<std::string_view>& alike = of_structure[life.making->structure];
    if (dataset.empty() && alike.size() == 1) dataset = *alike.begin();
    if (!dataset.empty() && counts[dataset] == 1 && single[life.making->structure] >= kFewestRebuilt) dataset = "*";
  }
}

/// Lives of different keys are different pipelines.
std::string ChainFinder::key_of(std::size_t index) const {
  const PipelineLife& life = lives_[index];
  if (life.making) return std::to_string(life.making->structure) + " " + datasets_[index];
  std::string key = datasets_[index];
  for (const std::string_view name : life.names) (key += '\n') += name;
  return key;
}

ChainNames& ChainFinder::names_of(Chain& chain) const {
  if (!chain.names) {
    chain.names = std::make_unique<ChainNames>();
    chain.names->add(lives_[chain.first]);
  }
  return *chain.names;
}

/// Whether no transformation has other inputs here than there. A life that was cut short shows fewer.
bool ChainFinder::agree(Chain& chain, const PipelineLife& life) const {
  const ChainNames& names = names_of(chain);
  std::unordered_map<std::string_view, bool> has_common_input;
  for (const std::string_view name : life.names) {
    const std::string_view prefix = prefix_of(name);
    if (!names.prefixes.contains(prefix)) continue;
    bool& is_common = has_common_input[prefix];
    is_common = is_common || names.all.contains(name);
  }
  return std::all_of(has_common_input.begin(), has_common_input.end(), [](const auto& entry) { return entry.second; });
}

bool ChainFinder::follows(Chain& chain, const PipelineLife& life) const {
  const PipelineLife& last = lives_[chain.last];
  if (life.making && last.roots.end <= life.making->span.start) return agree(chain, life);
  return last.root_calls >= kFewestCalls && life.root_calls >= kFewestCalls && last.all.end < life.all.start &&
         last.names == life.names;
}

/// The one whose consumer waits longest for it to go on: pipelines that are read in turn go on in turn.
std::optional<std::size_t> ChainFinder::chain_for(const OpenChains& open, const PipelineLife& life) {
  int compared = 0;
  for (auto chain = open.begin(); chain != open.end() && compared < kMostComparisons; ++chain, ++compared) {
    if (follows(chains_[chain->second], life)) return chain->second;
  }
  return std::nullopt;
}

void ChainFinder::add(std::size_t index, std::size_t chain_index) {
  const PipelineLife& life = lives_[index];
  if (chain_index == chains_.size()) chains_.push_back({index, index, 0, nullptr});
  Chain& chain = chains_[chain_index];
  found_[index] = {chain.first, chain.count++};
  if (chain.count > 1 && life.names != lives_[chain.last].names) names_of(chain).add(life);
  chain.last = index;
}

std::vector<Iteration> ChainFinder::find() {
  name_datasets();
  std::vector<std::size_t> by_start(lives_.size());
  std::iota(by_start.begin(), by_start.end(), std::size_t{0});
  std::stable_sort(by_start.begin(), by_start.end(), [&](std::size_t a, std::size_t b) {
    return std::tie(lives_[a].roots.start, lives_[a].all.start) < std::tie(lives_[b].roots.start, lives_[b].all.start);
  });
  std::unordered_map<std::string, OpenChains> open_chains;
  std::unordered_map<std::string, OpenChains> made_before;  // by dataset: chains whose making the window does not show
  for (const std::size_t index : by_start) {
    const PipelineLife& life = lives_[index];
    OpenChains& open = open_chains[key_of(index)];
    OpenChains& cut = made_before[datasets_[index]];
    std::optional<std::size_t> chain = chain_for(open, life);
    if (!chain && life.making) chain = chain_for(cut, life);
    if (chain) {
      const std::pair entry(lives_[chains_[*chain].last].roots.end, *chain);
      open.erase(entry);
      if (life.making) cut.erase(entry);
    }
    const std::size_t place = chain.value_or(chains_.size());
    add(index, place);
    open.insert({life.roots.end, place});
    if (!life.making) cut.insert({life.roots.end, place});
  }
  return std::move(found_);
}

}  // namespace

std::vector<Iteration> find_recreated_pipelines(std::span<const PipelineLife> lives) {
  return ChainFinder(lives).find();
}

}  // namespace doctor
