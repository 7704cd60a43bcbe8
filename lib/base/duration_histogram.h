#pragma once

#include <cstdint>
#include <vector>

#include "base/time.h"

namespace doctor {

/// Many durations in a bounded space, for quantiles: each is kept to 1 part in 1024, as in a floating-point number of
/// ten bits. What it answers does not depend on the order in which durations were added.
class DurationHistogram {
 public:
  /// A negative duration counts as 0.
  void add(Picoseconds duration);
  void add(const DurationHistogram& other);

  std::uint64_t count() const { return count_; }
  Picoseconds total() const { return total_; }

  /// The duration below which a part `share` (0..1) of them lies, between neighbours linearly ("type 7" of Hyndman and
  /// Fan 1996, as numpy does it); 0 if there are none.
  Picoseconds quantile(double share) const;

  /// About the total of the durations from `least` up: each counts as the middle of what it was kept as.
  Picoseconds total_from(Picoseconds least) const;

 private:
  /// Of octave e, steps[i] counts durations d with d >> e == 1024 + i, for e > 0, or d == i for e == 0, where i has 11
  /// bits.
  struct Octave {
    std::vector<std::uint32_t> steps;
    std::uint64_t count = 0;  ///< of all steps
  };

  double at_rank(std::uint64_t rank) const;

  std::vector<Octave> octaves_;
  std::uint64_t count_ = 0;
  Picoseconds total_ = 0;
};

}  // namespace doctor
