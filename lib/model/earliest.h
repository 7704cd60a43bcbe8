#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <queue>
#include <vector>

namespace doctor {

/// A queue of which the least element by `operator>` comes first. Few elements, as nearly every replay has them, stand
/// in order, which costs less than a heap. Of many, the later ones are in one.
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

  // The lines of a replay that run most often: places are the queue's own, and not checked.
  std::array<T, kNear> near_{};  ///< the first `count_`: the earliest, the very first of them at the end
  std::size_t count_ = 0;        ///< 0 only if there is none at all
  std::priority_queue<T, std::vector<T>, std::greater<T>> far_;  ///< none earlier than those
};

}  // namespace doctor
