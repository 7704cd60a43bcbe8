#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "compare/run_summary.h"

namespace doctor {

/// The nesting of kinds as a text: two runs of the same text have the same iterators at the same indices.
std::string shape_of(const RunSummary& run);

/// Which iterator of `candidate` is the same as each of `base`; kNoIndex where there is none. The pairing is one of a
/// minimal ordered tree edit distance (Zhang and Shasha 1989): an iterator keeps its ancestors and its order, so what
/// moved is left without a partner. Kinds of different families are never paired. Among like kinds those that the user
/// named alike or wrote in a like line come first, then those whose functions run the same ops and that are called
/// about as often, then those of the same form, then those whose calls take about as long. Trees of thousands of
/// iterators, which no pipeline has, are paired from the top down by kind and order, without a look at what is missing.
std::vector<std::size_t> align_iterators(std::span<const IteratorSummary> base,
                                         std::span<const IteratorSummary> candidate);

/// Whether the names that the user gave them, else the lines of code that made them, are the same; true where either is
/// not known. A line keeps its text while others move it, so its number counts only where no text is known.
bool have_like_lines(const IteratorSummary& a, const IteratorSummary& b);

/// Whether most types of op in their functions are the same; true where either shows none.
bool have_like_functions(const IteratorSummary& a, const IteratorSummary& b);

}  // namespace doctor
