#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "compare/run_summary.h"

namespace doctor {

/// The nesting of kinds as a text: two runs with equal texts have the same iterators at the same indices.
std::string shape_of(const RunSummary& run);

/// The partner in `candidate` of each iterator of `base`; kNoIndex if there is none. The pairing has the minimal
/// ordered tree edit distance (Zhang and Shasha 1989): an iterator keeps its ancestors and its order, so an iterator
/// that moved has no partner. Kinds of different families are never paired. Among equal kinds the order of preference
/// is: the same name or a similar line of code, the same ops in their functions and about as many calls, the same form,
/// and about as long calls. Trees of thousands of iterators, which no pipeline has, are paired from the top down by
/// kind and order, without regard to what is missing.
std::vector<std::size_t> align_iterators(std::span<const IteratorSummary> base,
                                         std::span<const IteratorSummary> candidate);

/// Tests whether their names, else their lines of code, are the same; true if either is not known. A line keeps its
/// text when others move it, so its number counts only if no text is known.
bool have_like_lines(const IteratorSummary& a, const IteratorSummary& b);

/// Tests whether most types of op in their functions are the same; true if either shows none.
bool have_like_functions(const IteratorSummary& a, const IteratorSummary& b);

}  // namespace doctor
