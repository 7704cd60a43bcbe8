#include "trace/trace_sink.h"

namespace doctor {
namespace {

/// Ids are counted, so neighbours need independent hashes (the finalizer of SplitMix64). Never 0.
std::uint64_t hash_of(std::uint64_t id) {
  id = (id ^ (id >> 30)) * 0xbf58'476d'1ce4'e5b9u;
  id = (id ^ (id >> 27)) * 0x94d0'49bb'1331'11ebu;
  constexpr std::uint64_t kHighest = std::uint64_t{1} << 63;
  return (id ^ (id >> 31)) | kHighest;
}

}  // namespace

bool QueueSampler::is_sampled(std::uint64_t id) const {
  return halvings_ == 0 || static_cast<unsigned>(std::countr_zero(hash_of(id))) >= halvings_;
}

void QueueSampler::queued(std::uint64_t id, Picoseconds start) {
  if (is_sampled(id)) take({id, start, LaneId{}, false});
}

void QueueSampler::started(std::uint64_t id, Picoseconds start, LaneId lane) {
  if (is_sampled(id)) take({id, start, lane, true});
}

/// Where the search for an id begins: neighbours are spread by an odd multiplier.
std::size_t QueueSampler::home_of(std::uint64_t id) const {
  return static_cast<std::size_t>((id * 0x9e37'79b9'7f4a'7c15u) >> 32) & (halves_.size() - 1);
}

/// The place of an id, or the free one where it belongs.
std::size_t QueueSampler::place_of(std::uint64_t id) const {
  std::size_t place = home_of(id);
  while (halves_[place].id != id && halves_[place].id != 0) place = (place + 1) & (halves_.size() - 1);
  return place;
}

/// Moves those after it up, so that every search still ends at the first free place.
void QueueSampler::free_place(std::size_t place) {
  const std::size_t mask = halves_.size() - 1;
  std::size_t hole = place;
  for (std::size_t next = (hole + 1) & mask; halves_[next].id != 0; next = (next + 1) & mask) {
    // One whose home lies after the hole stays.
    if (((next - home_of(halves_[next].id)) & mask) < ((next - hole) & mask)) continue;
    halves_[hole] = halves_[next];
    hole = next;
  }
  halves_[hole] = {};
  --half_count_;
}

/// Makes a table of `size` places for those that are still sampled.
void QueueSampler::rebuild(std::size_t size) {
  std::vector<Half> old(size);
  old.swap(halves_);
  half_count_ = 0;
  for (const Half& half : old) {
    if (half.id == 0 || !is_sampled(half.id)) continue;
    halves_[place_of(half.id)] = half;
    ++half_count_;
  }
}

void QueueSampler::take(const Half& half) {
  constexpr std::size_t kFewest = 64;
  if (half_count_ * 4 >= halves_.size() * 3) rebuild(std::max(kFewest, halves_.size() * 2));
  const std::size_t place = place_of(half.id);
  Half& other = halves_[place];
  if (other.id == 0) {
    other = half;
    ++half_count_;
    if (half_count_ + ids_.size() > kCapacity) thin_out();
    return;
  }
  if (other.is_started == half.is_started) {
    other = half;
    return;
  }
  const Half& queued = half.is_started ? other : half;
  const Half& started = half.is_started ? half : other;
  if (queued.start <= started.start) {
    closures_.reserve(kCapacity);
    closures_.push_back({{queued.start, started.start}, started.lane});
    ids_.reserve(kCapacity);
    ids_.push_back(half.id);
  }
  free_place(place);
}

/// A file may use one id for everything, so one halving need not be enough. No hash has 64 zeros at its end: the loop
/// ends.
void QueueSampler::thin_out() {
  while (half_count_ + ids_.size() > kCapacity) {
    ++halvings_;
    rebuild(halves_.size());
    std::size_t kept = 0;
    for (std::size_t pair = 0; pair < ids_.size(); ++pair) {
      if (!is_sampled(ids_[pair])) continue;
      closures_[kept] = closures_[pair];
      ids_[kept++] = ids_[pair];
    }
    closures_.resize(kept);
    ids_.resize(kept);
  }
}

QueueSample QueueSampler::finish() {
  QueueSample sample = {std::uint64_t{1} << std::min(halvings_, 63u), std::move(closures_)};
  *this = {};
  return sample;
}

}  // namespace doctor
