// Which iterators of two pipelines are the same.

#include "compare/tree_alignment.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "summaries.h"
#include "tree/dataset_kinds.h"

namespace doctor::tree_alignment_test {
namespace {

using Iterators = std::vector<IteratorSummary>;

Iterators chain(std::string_view kinds) {
  return SummaryBuilder(kinds).run().iterators;
}

/// Kinds of the pairs, in order of the base: "Root=Root Map=ParallelMap"; what has no partner: "Prefetch=".
std::string pairs_of(const Iterators& base, const Iterators& candidate) {
  std::string text;
  const std::vector<std::size_t> partners = align_iterators(base, candidate);
  for (std::size_t index = 0; index < base.size(); ++index) {
    if (index > 0) text += ' ';
    text += base[index].kind + '=';
    if (partners[index] != kNoIndex) text += candidate[partners[index]].kind;
  }
  return text;
}

void add_op(IteratorSummary& iterator, const std::string& op) {
  iterator.function_ops.push_back({op, durations(100, 10)});
}

TEST_CASE("chains with one edit") {
  struct Case {
    std::string_view base;
    std::string_view candidate;
    std::string_view pairs;
  };
  for (const Case& one : std::vector<Case>{
           {"Root Map Range", "Root Map Range", "Root=Root Map=Map Range=Range"},
           {"Root Prefetch Map Range", "Root Map Range", "Root=Root Prefetch= Map=Map Range=Range"},
           {"Root Map Range", "Root Prefetch Map Range", "Root=Root Map=Map Range=Range"},
           {"Root ParallelMap Range", "Root Map Range", "Root=Root ParallelMap=Map Range=Range"},
           {"Root MapAndBatch Range", "Root ParallelMap Range", "Root=Root MapAndBatch=ParallelMap Range=Range"},
           {"Root Batch Range", "Root ParallelBatch Range", "Root=Root Batch=ParallelBatch Range=Range"},
           {"Root Repeat Range", "Root ForeverRepeat Range", "Root=Root Repeat=ForeverRepeat Range=Range"},
           {"Root Shuffle Range", "Root Map Range", "Root=Root Shuffle= Range=Range"},
           {"Root MemoryCache MemoryCacheReader", "Root MemoryCache MemoryCacheWriter",
            "Root=Root MemoryCache=MemoryCache MemoryCacheReader=MemoryCacheWriter"},
           {"Root Map Filter Shuffle Range", "Root Filter Shuffle Map Range",
            "Root=Root Map= Filter=Filter Shuffle=Shuffle Range=Range"},
       }) {
    CAPTURE(one.base);
    CAPTURE(one.candidate);
    CHECK(pairs_of(chain(one.base), chain(one.candidate)) == one.pairs);
  }
}

TEST_CASE("like maps are told apart by the ops of their functions") {
  Iterators base = chain("Root Map Map Range");
  add_op(base[1], "DecodeJpeg");
  add_op(base[2], "ParseExample");
  Iterators candidate = chain("Root Map Range");
  add_op(candidate[1], "ParseExample");
  CHECK(align_iterators(base, candidate) == std::vector<std::size_t>{0, kNoIndex, 1, 2});
  candidate[1].function_ops.clear();
  add_op(candidate[1], "DecodeJpeg");
  CHECK(align_iterators(base, candidate) == std::vector<std::size_t>{0, 1, kNoIndex, 2});
}

TEST_CASE("like maps are told apart by the lines that made them, and by their names") {
  const auto written = [](Iterators iterators, std::size_t index, std::uint64_t line, const std::string& code) {
    iterators[index].source = SourceLine{"/home/me/input.py", line, code, {}, std::nullopt};
    return iterators;
  };
  const Iterators base = written(written(chain("Root Map Map Range"), 1, 9, "map(resize)"), 2, 8, "map(decode)");
  const Iterators candidate = chain("Root Map Range");
  const std::vector<std::size_t> is_first = {0, 1, kNoIndex, 2};
  const std::vector<std::size_t> is_second = {0, kNoIndex, 1, 2};
  // The line has moved, its text has not.
  CHECK(align_iterators(base, written(candidate, 1, 4, "map(resize)")) == is_first);
  CHECK(align_iterators(base, written(candidate, 1, 9, "map(decode)")) == is_second);
  // Without its text, as names alone have it.
  CHECK(align_iterators(base, written(candidate, 1, 9, "")) == is_first);
  CHECK(align_iterators(base, written(candidate, 1, 8, "")) == is_second);
  // What the user calls it says more.
  Iterators named = base;
  named[1].user_name = "first";
  named[2].user_name = "second";
  Iterators other = written(candidate, 1, 9, "map(resize)");
  other[1].user_name = "second";
  CHECK(align_iterators(named, other) == is_second);
}

/// Root, Zip, and below it the chains that are named.
Iterators zip(const std::vector<std::vector<std::string>>& branches) {
  SummaryBuilder builder("Root Zip");
  for (const std::vector<std::string>& branch : branches) {
    std::size_t parent = 1;
    for (const std::string& kind : branch) parent = builder.add(kind, parent);
  }
  return builder.run().iterators;
}

TEST_CASE("branches of a Zip keep their order") {
  const Iterators base = zip({{"Map", "Range"}, {"Shuffle", "TFRecord"}});
  CHECK(pairs_of(base, zip({{"Map", "Range"}, {"TFRecord"}})) ==
        "Root=Root Zip=Zip Map=Map Range=Range Shuffle= TFRecord=TFRecord");
  CHECK(pairs_of(base, zip({{"Map", "Range"}})) == "Root=Root Zip=Zip Map=Map Range=Range Shuffle= TFRecord=");
  CHECK(pairs_of(base, zip({{"Range"}, {"Map", "Shuffle", "TFRecord"}})) ==
        "Root=Root Zip=Zip Map= Range=Range Shuffle=Shuffle TFRecord=TFRecord");
}

TEST_CASE("sides without iterators, and several pipelines") {
  CHECK(align_iterators({}, {}).empty());
  CHECK(align_iterators(chain("Root Map"), {}) == std::vector<std::size_t>{kNoIndex, kNoIndex});
  CHECK(align_iterators({}, chain("Root Map")).empty());
  SummaryBuilder two("Root Map");
  two.add("Range", two.add("Root", kNoIndex));
  CHECK(align_iterators(two.run().iterators, chain("Root Range")) ==
        std::vector<std::size_t>{kNoIndex, kNoIndex, 0, 1});
}

/// Ordered tree edit distance by its definition, with a table of the forests seen: a forest is given by its iterators.
class PlainDistance {
 public:
  PlainDistance(const Iterators& base, const Iterators& candidate) : base_(base), candidate_(candidate) {}

  // What an edit costs, as in tree_alignment.cpp.
  static constexpr int kAlone = 20;

  int distance() { return of(roots_of(base_), roots_of(candidate_)); }

  static int pair_cost(const IteratorSummary& a, const IteratorSummary& b) {
    if (family_of(a.kind) != family_of(b.kind)) return 1000;
    return (a.kind == b.kind ? 0 : 4) + (have_like_functions(a, b) ? 0 : 6);
  }

 private:
  using Forest = std::vector<std::size_t>;  // roots, in order

  static Forest roots_of(const Iterators& iterators) { return children_of(iterators, kNoIndex); }
  static Forest children_of(const Iterators& iterators, std::size_t parent) {
    Forest children;
    for (std::size_t index = 0; index < iterators.size(); ++index) {
      if (iterators[index].parent == parent) children.push_back(index);
    }
    return children;
  }
  static Forest without_last_root(const Iterators& iterators, Forest forest) {
    const std::size_t last = forest.back();
    forest.pop_back();
    for (const std::size_t child : children_of(iterators, last)) forest.push_back(child);
    return forest;
  }

  int of(const Forest& a, const Forest& b) {
    if (a.empty() && b.empty()) return 0;
    const auto known = known_.find({a, b});
    if (known != known_.end()) return known->second;
    int best = 1'000'000;
    if (!a.empty()) best = std::min(best, kAlone + of(without_last_root(base_, a), b));
    if (!b.empty()) best = std::min(best, kAlone + of(a, without_last_root(candidate_, b)));
    if (!a.empty() && !b.empty()) {
      const int inside = of(children_of(base_, a.back()), children_of(candidate_, b.back()));
      const int beside = of({a.begin(), a.end() - 1}, {b.begin(), b.end() - 1});
      best = std::min(best, inside + beside + pair_cost(base_[a.back()], candidate_[b.back()]));
    }
    known_[{a, b}] = best;
    return best;
  }

  const Iterators& base_;
  const Iterators& candidate_;
  std::map<std::pair<Forest, Forest>, int> known_;
};

Iterators random_tree(std::mt19937_64& random) {
  static const std::vector<std::string> kKinds = {"Map", "ParallelMap", "Batch", "Zip"};
  Iterators iterators;
  // Pre-order: the parent of the next one is the one before it, or an ancestor of that.
  for (std::size_t count = 1 + random() % 7; iterators.size() < count;) {
    std::size_t parent = iterators.empty() ? kNoIndex : iterators.size() - 1;
    while (parent != kNoIndex && random() % 3 == 0) parent = iterators[parent].parent;
    IteratorSummary& iterator = iterators.emplace_back();
    iterator.kind = kKinds[random() % kKinds.size()];
    iterator.parent = parent;
    if (random() % 2 == 0) add_op(iterator, random() % 2 == 0 ? "Mul" : "Add");
  }
  return iterators;
}

bool is_above(const Iterators& iterators, std::size_t above, std::size_t below) {
  while (below != kNoIndex && below != above) below = iterators[below].parent;
  return below == above;
}

TEST_CASE("pairs are those of a minimal edit distance, and keep ancestors and order") {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    std::mt19937_64 random(seed);
    const Iterators base = random_tree(random);
    const Iterators candidate = random_tree(random);
    const std::vector<std::size_t> partners = align_iterators(base, candidate);
    CAPTURE(seed);
    int cost = 0;
    std::size_t paired = 0;
    for (std::size_t a = 0; a < base.size(); ++a) {
      if (partners[a] == kNoIndex) continue;
      ++paired;
      cost += PlainDistance::pair_cost(base[a], candidate[partners[a]]);
      for (std::size_t b = a + 1; b < base.size(); ++b) {
        if (partners[b] == kNoIndex) continue;
        CHECK(partners[a] < partners[b]);
        CHECK(is_above(base, a, b) == is_above(candidate, partners[a], partners[b]));
      }
    }
    cost += PlainDistance::kAlone * static_cast<int>(base.size() + candidate.size() - 2 * paired);
    CHECK(cost == PlainDistance(base, candidate).distance());
  }
}

std::size_t add_plain(Iterators& iterators, const std::string& kind, std::size_t parent) {
  IteratorSummary& iterator = iterators.emplace_back();
  iterator.kind = kind;
  iterator.parent = parent;
  return iterators.size() - 1;
}

Iterators deep_chain(std::size_t size) {
  Iterators iterators;
  while (iterators.size() < size) {
    add_plain(iterators, iterators.size() % 2 == 0 ? "Map" : "Batch", iterators.size() - 1);  // the first one: kNoIndex
  }
  return iterators;
}

Iterators wide_tree(std::size_t size) {
  Iterators iterators;
  add_plain(iterators, "Zip", kNoIndex);
  while (iterators.size() < size) add_plain(iterators, iterators.size() % 2 == 0 ? "Map" : "Range", 0);
  return iterators;
}

/// A tree in which every other iterator has a leaf beside the next one, on the left or on the right.
Iterators comb(std::size_t size, bool has_leaves_first) {
  Iterators iterators;
  std::size_t parent = add_plain(iterators, "Root", kNoIndex);
  while (iterators.size() < size) {
    const std::size_t zip = add_plain(iterators, "Zip", parent);
    if (has_leaves_first) add_plain(iterators, "Range", zip);
    parent = add_plain(iterators, "Map", zip);
    if (!has_leaves_first) add_plain(iterators, "Range", zip);
  }
  return iterators;
}

std::size_t paired_with_itself(const std::vector<std::size_t>& partners) {
  std::size_t count = 0;
  for (std::size_t index = 0; index < partners.size(); ++index) count += partners[index] == index ? 1U : 0U;
  return count;
}

TEST_CASE("deep, wide and large trees neither overflow nor take long") {
  for (const Iterators& tree :
       {deep_chain(5000), wide_tree(5000), comb(300, true), comb(3000, true), comb(3000, false), deep_chain(100'000)}) {
    CAPTURE(tree.size());
    CHECK(paired_with_itself(align_iterators(tree, tree)) == tree.size());
  }
}

}  // namespace

}  // namespace doctor::tree_alignment_test
