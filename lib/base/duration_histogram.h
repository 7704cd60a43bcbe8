#pragma once

#include <vector>

#include "base/time.h"

namespace doctor {

/// Many durations in bounded space, for quantiles. Each duration is kept to 1 part in 1,024, as in a floating-point
/// number of ten bits. The order in which durations are added changes no answer.
class DurationHistogram {
 public:
  /// A negative duration counts as 0.
  void add(Picoseconds duration);
  void add(const DurationHistogram& other);

  std::uint64_t count() const { return count_; }
  Picoseconds total() const { return total_; }

  /// The duration that a part `share` (0..1) of all durations lies below, interpolated linearly ("type 7" of Hyndman
  /// and Fan 1996, as numpy does it); 0 if there are none.
  Picoseconds quantile(double share) const;

  /// The approximate total of the durations that are at least `least`: each counts as the middle of its bucket.
  Picoseconds total_from(Picoseconds least) const;

 private:
  /// The counts of one octave: steps[i] of octave e counts durations d with d >> e == 1024 + i for e > 0, or d == i for
  /// e == 0, where i has 11 bits.
  struct Octave {
    std::vector<std::uint32_t> steps;
    std::uint64_t count = 0;  ///< the sum of `steps`
  };

  double at_rank(std::uint64_t rank) const;

  std::vector<Octave> octaves_;
  std::uint64_t count_ = 0;
  Picoseconds total_ = 0;
};

}  // namespace doctor
