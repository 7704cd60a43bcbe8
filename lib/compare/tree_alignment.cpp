#include "compare/tree_alignment.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "compare/iterator_settings.h"
#include "tree/dataset_kinds.h"

namespace doctor {
namespace {

// What an edit costs. A pair of different families costs more than leaving both alone; all else that may differ
// together costs less. Of two that could be the same one, the line that the user wrote says most, then what the
// function runs and how often it is called (one that has run out has few calls left), then the form, then how long a
// call takes.
constexpr int kAlone = 20;
constexpr int kOtherLine = 7;
constexpr int kOtherFunction = 6;
constexpr int kOtherOps = 1;  ///< of the same function: one that was edited
constexpr int kOtherForm = 4;
constexpr int kMostOtherTime = 3;  ///< one for each doubling
constexpr int kOtherAmount = 6;
constexpr int kOtherFamily = 2 * kAlone + 1;

// Where exact alignment ends: cells of the tables to fill, and of the largest one (4 bytes each). Pipelines of hundreds
// of iterators stay far below; a damaged or hostile recording must not take minutes or gigabytes.
constexpr double kMostWork = 3e8;
constexpr double kMostCells = 3e7;

/// Of two alike below one parent, as a pipeline has that another one was made before and that still runs, each is
/// paired with the one that is called about as often.
bool have_like_amounts(const IteratorSummary& a, const IteratorSummary& b) {
  constexpr std::uint64_t kMostTimes = 4;
  // A map and its batch in one is called for a batch, and does its map's work for each element of it.
  const auto amount = [](const IteratorSummary& one) {
    const bool is_fused = dataset_kind(one.kind).has(Trait::fused_batch);
    const std::int64_t each = is_fused ? std::max<std::int64_t>(1, batch_size_of(one).value_or(1)) : 1;
    return static_cast<double>(one.calls) * static_cast<double>(each);
  };
  const double amount_a = amount(a);
  const double amount_b = amount(b);
  return std::max(amount_a, amount_b) < static_cast<double>(kMostTimes) * (std::min(amount_a, amount_b) + 1);
}

int cost_of_functions(const IteratorSummary& a, const IteratorSummary& b) {
  if (a.function_ops.empty() || b.function_ops.empty()) return 0;
  if (!have_like_functions(a, b)) return kOtherFunction;
  const auto is_same = [](const OpSummary& one, const OpSummary& other) { return one.op == other.op; };
  return std::equal(a.function_ops.begin(), a.function_ops.end(), b.function_ops.begin(), b.function_ops.end(), is_same)
             ? 0
             : kOtherOps;
}

/// What a call takes: its own part, or its function's where it waits for other threads. 0: not known.
double picoseconds_of(const IteratorSummary& iterator) {
  if (iterator.self.count > 0) return static_cast<double>(iterator.self.p25);
  double sum = 0;
  for (const OpSummary& op : iterator.function_ops) sum += static_cast<double>(op.durations.p25);
  return sum;
}

int cost_of_times(const IteratorSummary& a, const IteratorSummary& b) {
  // What is shorter than this is the runtime's own, whose time says nothing.
  constexpr double kShortest = 50e6;  // 50 us
  const double time_a = picoseconds_of(a);
  const double time_b = picoseconds_of(b);
  if (time_a < kShortest || time_b < kShortest) return 0;
  return std::min(kMostOtherTime, static_cast<int>(std::lround(std::abs(std::log2(time_a / time_b)))));
}

/// The iterators as one tree in post-order under a root that holds all pipelines. Positions count from 1.
struct PostOrder {
  std::vector<const IteratorSummary*> nodes;  ///< null at 0 and for the root, which is last
  std::vector<std::string_view> families;     ///< of their kinds
  std::vector<std::size_t> indices;           ///< into the summary's iterators
  std::vector<std::size_t> first_leaf;        ///< position of the first leaf below each
  std::vector<std::size_t> key_roots;         ///< the last position of each first leaf, ascending

  explicit PostOrder(std::span<const IteratorSummary> iterators)
      : nodes(1), families(1), indices(1, kNoIndex), first_leaf(1) {
    std::vector<std::vector<std::size_t>> children(iterators.size() + 1);
    for (std::size_t index = 0; index < iterators.size(); ++index) {
      const std::size_t parent = iterators[index].parent;
      children[parent == kNoIndex ? iterators.size() : parent].push_back(index);
    }
    add(iterators, children, iterators.size());
    std::vector<bool> is_seen(nodes.size());
    for (std::size_t position = nodes.size() - 1; position > 0; --position) {
      if (!is_seen[first_leaf[position]]) key_roots.push_back(position);
      is_seen[first_leaf[position]] = true;
    }
    std::reverse(key_roots.begin(), key_roots.end());
  }

  /// Iterators below all key roots together.
  double size_of_key_trees() const {
    double size = 0;
    for (const std::size_t position : key_roots) size += static_cast<double>(position - first_leaf[position] + 1);
    return size;
  }

 private:
  /// Without recursion: a damaged trace may nest iterators deeply.
  void add(std::span<const IteratorSummary> iterators, const std::vector<std::vector<std::size_t>>& children,
           std::size_t root) {
    struct Open {
      std::size_t index;
      std::size_t next_child;
      std::size_t first_leaf;
    };
    std::vector<Open> open = {{root, 0, 0}};
    while (!open.empty()) {
      Open& top = open.back();
      if (top.next_child < children[top.index].size()) {
        open.push_back({children[top.index][top.next_child++], 0, 0});
        continue;
      }
      const std::size_t position = nodes.size();
      const std::size_t leaf = top.first_leaf == 0 ? position : top.first_leaf;
      nodes.push_back(top.index == root ? nullptr : &iterators[top.index]);
      families.push_back(top.index == root ? std::string_view() : family_of(iterators[top.index].kind));
      indices.push_back(top.index == root ? kNoIndex : top.index);
      first_leaf.push_back(leaf);
      open.pop_back();
      if (!open.empty() && open.back().first_leaf == 0) open.back().first_leaf = leaf;
    }
  }
};

/// A table of numbers over two ranges of positions.
class Table {
 public:
  Table(std::size_t rows, std::size_t columns) : columns_(columns), cells_(rows * columns) {}
  int& at(std::size_t row, std::size_t column) { return cells_[row * columns_ + column]; }

 private:
  std::size_t columns_;
  std::vector<int> cells_;
};

class Aligner {
 public:
  Aligner(const PostOrder& base, const PostOrder& candidate)
      : base_(base), candidate_(candidate), tree_(base.nodes.size(), candidate.nodes.size()) {}

  std::vector<std::pair<std::size_t, std::size_t>> align() {
    for (const std::size_t row : base_.key_roots) {
      for (const std::size_t column : candidate_.key_roots) measure(row, column);
    }
    std::vector<std::pair<std::size_t, std::size_t>> pairs;
    std::vector<std::pair<std::size_t, std::size_t>> open = {{base_.nodes.size() - 1, candidate_.nodes.size() - 1}};
    while (!open.empty()) {
      const auto [row, column] = open.back();
      open.pop_back();
      trace_back(row, column, pairs, open);
    }
    return pairs;
  }

 private:
  int cost(std::size_t row, std::size_t column) const {
    const IteratorSummary* const a = base_.nodes[row];
    const IteratorSummary* const b = candidate_.nodes[column];
    if (a == nullptr || b == nullptr) return a == b ? 0 : kOtherFamily;
    if (base_.families[row] != candidate_.families[column]) return kOtherFamily;
    return (a->kind == b->kind ? 0 : kOtherForm) + cost_of_functions(*a, *b) + cost_of_times(*a, *b) +
           (have_like_lines(*a, *b) ? 0 : kOtherLine) + (have_like_amounts(*a, *b) ? 0 : kOtherAmount);
  }

  /// Distances of the forests that end at each pair of positions within the trees of `row` and `column`. Where both
  /// forests are whole trees the distance is kept in tree_.
  Table measure(std::size_t row, std::size_t column) {
    const std::size_t first_row = base_.first_leaf[row];
    const std::size_t first_column = candidate_.first_leaf[column];
    Table forest(row - first_row + 2, column - first_column + 2);
    for (std::size_t i = 1; i <= row - first_row + 1; ++i) forest.at(i, 0) = forest.at(i - 1, 0) + kAlone;
    for (std::size_t j = 1; j <= column - first_column + 1; ++j) forest.at(0, j) = forest.at(0, j - 1) + kAlone;
    for (std::size_t x = first_row; x <= row; ++x) {
      for (std::size_t y = first_column; y <= column; ++y) {
        const std::size_t i = x - first_row + 1;
        const std::size_t j = y - first_column + 1;
        const int alone = std::min(forest.at(i - 1, j), forest.at(i, j - 1)) + kAlone;
        const bool are_trees = base_.first_leaf[x] == first_row && candidate_.first_leaf[y] == first_column;
        if (are_trees) {
          forest.at(i, j) = std::min(alone, forest.at(i - 1, j - 1) + cost(x, y));
          tree_.at(x, y) = forest.at(i, j);
        } else {
          const int before = forest.at(base_.first_leaf[x] - first_row, candidate_.first_leaf[y] - first_column);
          forest.at(i, j) = std::min(alone, before + tree_.at(x, y));
        }
      }
    }
    return forest;
  }

  /// Finds the pairs within two trees; subtrees that are paired as a whole are left open.
  void trace_back(std::size_t row, std::size_t column, std::vector<std::pair<std::size_t, std::size_t>>& pairs,
                  std::vector<std::pair<std::size_t, std::size_t>>& open) {
    Table forest = measure(row, column);
    const std::size_t first_row = base_.first_leaf[row];
    const std::size_t first_column = candidate_.first_leaf[column];
    std::size_t x = row;
    std::size_t y = column;
    while (x >= first_row && y >= first_column) {
      const std::size_t i = x - first_row + 1;
      const std::size_t j = y - first_column + 1;
      const bool are_trees = base_.first_leaf[x] == first_row && candidate_.first_leaf[y] == first_column;
      if (are_trees && forest.at(i, j) == forest.at(i - 1, j - 1) + cost(x, y)) {
        pairs.emplace_back(x, y);
        --x;
        --y;
      } else if (!are_trees && forest.at(i, j) ==
                                   forest.at(base_.first_leaf[x] - first_row, candidate_.first_leaf[y] - first_column) +
                                       tree_.at(x, y)) {
        open.emplace_back(x, y);
        x = base_.first_leaf[x] - 1;
        y = candidate_.first_leaf[y] - 1;
      } else if (forest.at(i, j) == forest.at(i - 1, j) + kAlone) {
        --x;
      } else {
        --y;
      }
    }
  }

  const PostOrder& base_;
  const PostOrder& candidate_;
  Table tree_;
};

/// Whether the exact alignment of two trees is to be had.
bool is_affordable(const PostOrder& base, const PostOrder& candidate) {
  const double cells = static_cast<double>(base.nodes.size()) * static_cast<double>(candidate.nodes.size());
  return cells <= kMostCells && base.size_of_key_trees() * candidate.size_of_key_trees() <= kMostWork;
}

/// Pairs the children of what is paired: each with the one of its family that has as many of it before it.
std::vector<std::size_t> align_from_the_top(std::span<const IteratorSummary> base,
                                            std::span<const IteratorSummary> candidate) {
  using Place = std::tuple<std::size_t, std::string_view, std::size_t>;  // parent, family, how many are before it
  std::map<std::pair<std::size_t, std::string_view>, std::size_t> before;
  std::map<Place, std::size_t> places;
  for (std::size_t index = 0; index < candidate.size(); ++index) {
    const std::string_view family = family_of(candidate[index].kind);
    places[{candidate[index].parent, family, before[{candidate[index].parent, family}]++}] = index;
  }
  before.clear();
  std::vector<std::size_t> partners(base.size(), kNoIndex);
  for (std::size_t index = 0; index < base.size(); ++index) {
    const std::size_t parent = base[index].parent;
    const std::string_view family = family_of(base[index].kind);
    const std::size_t number = before[{parent, family}]++;
    if (parent != kNoIndex && partners[parent] == kNoIndex) continue;
    const auto found = places.find({parent == kNoIndex ? kNoIndex : partners[parent], family, number});
    if (found != places.end()) partners[index] = found->second;
  }
  return partners;
}

}  // namespace

std::string shape_of(const RunSummary& run) {
  std::string shape;
  std::vector<std::size_t> depths;
  for (const IteratorSummary& iterator : run.iterators) {
    depths.push_back(iterator.parent == kNoIndex ? 0 : depths[iterator.parent] + 1);
    shape += std::to_string(depths.back()) + ' ' + iterator.kind + '\n';
  }
  return shape;
}

bool have_like_functions(const IteratorSummary& a, const IteratorSummary& b) {
  if (a.function_ops.empty() || b.function_ops.empty()) return true;
  std::size_t shared = 0;
  for (const OpSummary& op : a.function_ops) {
    const auto is_same = [&](const OpSummary& other) { return other.op == op.op; };
    shared += std::any_of(b.function_ops.begin(), b.function_ops.end(), is_same) ? 1U : 0U;
  }
  return 2 * shared >= std::min(a.function_ops.size(), b.function_ops.size());
}

bool have_like_lines(const IteratorSummary& a, const IteratorSummary& b) {
  if (!a.user_name.empty() && !b.user_name.empty()) return a.user_name == b.user_name;
  if (!a.source || !b.source) return true;
  if (!a.source->code.empty() && !b.source->code.empty()) return a.source->code == b.source->code;
  return to_text(*a.source) == to_text(*b.source);
}

std::vector<std::size_t> align_iterators(std::span<const IteratorSummary> base,
                                         std::span<const IteratorSummary> candidate) {
  std::vector<std::size_t> partners(base.size(), kNoIndex);
  const PostOrder base_order(base);
  const PostOrder candidate_order(candidate);
  if (!is_affordable(base_order, candidate_order)) return align_from_the_top(base, candidate);
  for (const auto& [row, column] : Aligner(base_order, candidate_order).align()) {
    const bool is_root = base_order.nodes[row] == nullptr || candidate_order.nodes[column] == nullptr;
    if (is_root || base_order.families[row] != candidate_order.families[column]) continue;
    partners[base_order.indices[row]] = candidate_order.indices[column];
  }
  return partners;
}

}  // namespace doctor
