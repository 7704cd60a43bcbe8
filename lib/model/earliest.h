#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <queue>
#include <vector>

namespace doctor {

/// A queue whose smallest element by `operator>` comes first. In nearly all replays it has few elements, which are kept
/// sorted, because that costs less than a heap. If there are many, the later ones are in a heap.
template <typename T>
class Earliest {
 public:
  bool empty() const { return count_ == 0; }
  const T& top() const { return near_.data()[count_ - 1]; }

  [[gnu::always_inline]] void push(const T& added) {
    T* const near = near_.data();
    const bool is_full = count_ == kNear;
    if ((is_full || !far_.empty()) && added > near[0]) return far_.push(added);
    if (is_full) make_room();
    std::size_t place = count_++;
    for (; place > 0 && added > near[place - 1]; --place) near[place] = near[place - 1];
    near[place] = added;
  }

  [[gnu::always_inline]] void pop() {
    if (--count_ > 0 || far_.empty()) return;
    near_[count_++] = far_.top();
    far_.pop();
  }

 private:
  static constexpr std::size_t kNear = 32;

  void make_room() {
    far_.push(near_.front());
    std::move(near_.begin() + 1, near_.end(), near_.begin());
    --count_;
  }

  // These are the most frequent lines of a replay: indices are the queue's own, and are not checked.
  /// the first `count_` are used: the earliest elements, with the very first of them at the end
  std::array<T, kNear> near_{};
  std::size_t count_ = 0;                                        ///< 0 only if the queue is empty
  std::priority_queue<T, std::vector<T>, std::greater<T>> far_;  ///< the others, none of which is earlier
};

}  // namespace doctor
