#include "compare/aligned_runs.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <string_view>

#include "compare/iterator_settings.h"
#include "compare/tree_alignment.h"

namespace doctor {
namespace {

struct ShapesOfSide {
  std::vector<std::string> shapes;  ///< indexed by recording
  std::size_t usual = 0;            ///< recording that represents all
};

ShapesOfSide look_at(std::span<const RunSummary> runs) {
  ShapesOfSide side;
  std::map<std::string_view, std::size_t> counts;
  for (const RunSummary& run : runs) side.shapes.push_back(shape_of(run));
  for (const std::string& shape : side.shapes) ++counts[shape];
  // Of shapes alike in number the richer one: windows that end early show fewer iterators.
  const auto is_more_usual = [&](std::size_t a, std::size_t b) {
    const std::size_t count_a = counts[side.shapes[a]];
    const std::size_t count_b = counts[side.shapes[b]];
    return count_a != count_b ? count_a > count_b : runs[a].iterators.size() > runs[b].iterators.size();
  };
  for (std::size_t index = 1; index < runs.size(); ++index) {
    if (is_more_usual(index, side.usual)) side.usual = index;
  }
  return side;
}

/// The partner of each iterator of `run` in each of `others`: partners[recording][iterator].
std::vector<std::vector<std::size_t>> partners_in(const RunSummary& run, const std::string& shape,
                                                  std::span<const RunSummary> others, const ShapesOfSide& side) {
  std::vector<std::vector<std::size_t>> partners;
  for (std::size_t index = 0; index < others.size(); ++index) {
    if (side.shapes[index] != shape) {
      partners.push_back(align_iterators(run.iterators, others[index].iterators));
      continue;
    }
    partners.emplace_back(run.iterators.size());
    std::iota(partners.back().begin(), partners.back().end(), std::size_t{0});
  }
  return partners;
}

std::vector<std::size_t> column(const std::vector<std::vector<std::size_t>>& partners, std::size_t iterator) {
  std::vector<std::size_t> indices;
  indices.reserve(partners.size());
  for (const std::vector<std::size_t>& recording : partners) indices.push_back(recording[iterator]);
  return indices;
}

/// Leaves out what is another one's partner: in recordings of another shape chance may pair differently.
void leave_out(const std::vector<std::vector<std::size_t>>& taken, std::vector<std::size_t>& indices) {
  for (std::size_t recording = 0; recording < indices.size(); ++recording) {
    const std::vector<std::size_t>& others = taken[recording];
    if (std::find(others.begin(), others.end(), indices[recording]) != others.end()) indices[recording] = kNoIndex;
  }
}

/// Parents come before their inputs: so the inputs are looked at first.
std::vector<double> elements_per_call(const RunSummary& run) {
  std::vector<double> elements(run.iterators.size(), 1);
  for (std::size_t index = run.iterators.size(); index-- > 0;) {
    const IteratorSummary& iterator = run.iterators[index];
    elements[index] *= static_cast<double>(batch_size_of(iterator).value_or(1));
    if (iterator.parent != kNoIndex) elements[iterator.parent] = std::max(elements[iterator.parent], elements[index]);
  }
  return elements;
}

/// Indexed by iterator: the one at the top of its tree.
std::vector<std::size_t> roots_of(const RunSummary& run) {
  std::vector<std::size_t> roots;
  for (std::size_t index = 0; index < run.iterators.size(); ++index) {
    const std::size_t parent = run.iterators[index].parent;
    roots.push_back(parent == kNoIndex ? index : roots[parent]);
  }
  return roots;
}

}  // namespace

AlignedRuns align_runs(std::span<const RunSummary> base, std::span<const RunSummary> candidate) {
  AlignedRuns runs;
  runs.base_runs = base;
  runs.candidate_runs = candidate;
  const ShapesOfSide base_side = look_at(base);
  const ShapesOfSide candidate_side = look_at(candidate);
  static const RunSummary kNone;
  const RunSummary& usual_base = base.empty() ? kNone : base[base_side.usual];
  const RunSummary& usual_candidate = candidate.empty() ? kNone : candidate[candidate_side.usual];
  const std::string base_shape = shape_of(usual_base);
  const std::string candidate_shape = shape_of(usual_candidate);
  if (!base.empty()) runs.base = &usual_base;
  if (!candidate.empty()) runs.candidate = &usual_candidate;
  for (const std::string& shape : base_side.shapes) runs.other_shapes += shape != base_shape ? 1U : 0U;
  for (const std::string& shape : candidate_side.shapes) runs.other_shapes += shape != candidate_shape ? 1U : 0U;

  runs.base_elements = elements_per_call(usual_base);
  runs.candidate_elements = elements_per_call(usual_candidate);
  const std::vector<std::size_t> base_roots = roots_of(usual_base);
  const std::vector<std::size_t> candidate_roots = roots_of(usual_candidate);

  const auto base_in_base = partners_in(usual_base, base_shape, base, base_side);
  const auto base_in_candidate = partners_in(usual_base, base_shape, candidate, candidate_side);
  const auto candidate_in_base = partners_in(usual_candidate, candidate_shape, base, base_side);
  const auto candidate_in_candidate = partners_in(usual_candidate, candidate_shape, candidate, candidate_side);
  std::vector<bool> is_paired(usual_candidate.iterators.size());
  for (std::size_t index = 0; index < usual_base.iterators.size(); ++index) {
    AlignedIterator aligned;
    aligned.base = &usual_base.iterators[index];
    aligned.base_index = index;
    aligned.base_root = base_roots[index];
    aligned.in_base = column(base_in_base, index);
    aligned.in_candidate = column(base_in_candidate, index);
    const std::size_t partner = candidate.empty() ? kNoIndex : base_in_candidate[candidate_side.usual][index];
    if (partner != kNoIndex) {
      is_paired[partner] = true;
      aligned.candidate = &usual_candidate.iterators[partner];
      aligned.candidate_index = partner;
      aligned.candidate_root = candidate_roots[partner];
      aligned.in_candidate = column(candidate_in_candidate, partner);
    } else {
      leave_out(candidate_in_candidate, aligned.in_candidate);
    }
    runs.iterators.push_back(std::move(aligned));
  }
  for (std::size_t index = 0; index < usual_candidate.iterators.size(); ++index) {
    if (is_paired[index]) continue;
    AlignedIterator aligned;
    aligned.candidate = &usual_candidate.iterators[index];
    aligned.candidate_index = index;
    aligned.candidate_root = candidate_roots[index];
    aligned.in_base = column(candidate_in_base, index);
    leave_out(base_in_base, aligned.in_base);
    aligned.in_candidate = column(candidate_in_candidate, index);
    runs.iterators.push_back(std::move(aligned));
  }
  return runs;
}

}  // namespace doctor
