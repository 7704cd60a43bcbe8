#include <bit>
#include <utility>

#include "base/parallel.h"
#include "measure/functions/function_owners.h"

namespace doctor {
namespace {

using Entry = FunctionTable::Entry;

/// Orders entries by their buckets, in place: every entry is swapped to where those of its bucket are filled up to.
/// `begins` has a place more than there are buckets, and becomes where each begins.
template <typename BucketOf>
void move_into_buckets(std::span<Entry> entries, std::span<std::uint32_t> begins, BucketOf bucket_of) {
  std::fill(begins.begin(), begins.end(), 0);
  for (const Entry& entry : entries) ++begins[bucket_of(entry) + 1];
  for (std::size_t bucket = 1; bucket < begins.size(); ++bucket) begins[bucket] += begins[bucket - 1];
  std::vector<std::uint32_t> filled(begins.begin(), begins.end() - 1);
  for (std::size_t bucket = 0; bucket < filled.size(); ++bucket) {
    while (filled[bucket] < begins[bucket + 1]) {
      Entry& entry = entries[filled[bucket]];
      std::swap(entry, entries[filled[bucket_of(entry)]++]);
    }
  }
}

/// By owner too: of runs that share an id the same one is found, whatever their order.
bool comes_before(const Entry& left, const Entry& right) {
  const std::uint64_t id = left.id.value();
  return id != right.id.value() ? id < right.id.value() : left.owner < right.owner;
}

}  // namespace

FunctionTable::FunctionTable(std::vector<Entry> entries, const WorkOptions& work) : entries_(std::move(entries)) {
  if (!entries_.empty()) sort(work);
}

/// In two passes, first into a few parts and then each part into its buckets: a part fits into the cache, all entries
/// do not, and threads sort parts of their own.
void FunctionTable::sort(const WorkOptions& work) {
  constexpr std::size_t kPartBits = 8;  // chosen: the ends of as many parts stay in the cache
  lowest_ = highest_ = entries_.front().id.value();
  for (const Entry& entry : entries_) {
    lowest_ = std::min(lowest_, entry.id.value());
    highest_ = std::max(highest_, entry.id.value());
  }
  // 4 ids to a bucket, or 2, if they are spread evenly.
  const int bits = static_cast<int>(std::bit_width(highest_ - lowest_));
  shift_ = static_cast<unsigned>(std::clamp(bits - static_cast<int>(std::bit_width(entries_.size())) + 2, 0, 63));
  const std::size_t buckets = bucket_of(highest_) + 1;
  bucket_begins_.assign(buckets + 1, 0);

  const std::size_t bucket_bits = std::bit_width(buckets - 1);
  // Of few buckets one part is enough.
  const std::size_t bits_of_part = bucket_bits > kPartBits ? bucket_bits - kPartBits : bucket_bits;
  const std::size_t parts = ((buckets - 1) >> bits_of_part) + 1;
  std::vector<std::uint32_t> part_begins(parts + 1, 0);
  move_into_buckets(entries_, part_begins,
                    [&](const Entry& entry) { return bucket_of(entry.id.value()) >> bits_of_part; });
  run_parallel(threads_for(work, entries_.size()), parts, [&](std::size_t part) {
    const std::span<Entry> entries =
        std::span(entries_).subspan(part_begins[part], part_begins[part + 1] - part_begins[part]);
    sort_buckets(entries, part << bits_of_part, std::min((part + 1) << bits_of_part, buckets));
  });
  bucket_begins_.back() = static_cast<std::uint32_t>(entries_.size());
}

/// `entries` are those of the buckets [first_bucket, end_bucket).
void FunctionTable::sort_buckets(std::span<Entry> entries, std::size_t first_bucket, std::size_t end_bucket) {
  std::vector<std::uint32_t> begins(end_bucket - first_bucket + 1);
  move_into_buckets(entries, begins, [&](const Entry& entry) { return bucket_of(entry.id.value()) - first_bucket; });
  const auto before = static_cast<std::uint32_t>(entries.data() - entries_.data());
  for (std::size_t bucket = first_bucket; bucket < end_bucket; ++bucket) {
    const std::uint32_t begin = begins[bucket - first_bucket];
    const std::uint32_t end = begins[bucket - first_bucket + 1];
    std::sort(entries.begin() + begin, entries.begin() + end, comes_before);
    bucket_begins_[bucket] = before + begin;
  }
}

IteratorId FunctionTable::operator[](std::uint64_t id) const {
  if (!may_hold(id)) return kNoIterator;
  const std::size_t bucket = bucket_of(id);
  const Entry* const end = entries_.data() + bucket_begins_[bucket + 1];
  const Entry* const entry =
      std::lower_bound(entries_.data() + bucket_begins_[bucket], end, id,
                       [](const Entry& one, std::uint64_t wanted) { return one.id.value() < wanted; });
  return entry != end && entry->id.value() == id ? entry->owner : kNoIterator;
}

void FunctionTable::find(std::span<const std::uint64_t> ids, std::span<IteratorId> owners) const {
  constexpr std::size_t kAtOnce = 64;  // chosen: requests to memory that are under way together
  for (std::size_t first = 0; first < ids.size(); first += kAtOnce) {
    const std::span<const std::uint64_t> some = ids.subspan(first, std::min(kAtOnce, ids.size() - first));
    for (const std::uint64_t id : some) {
      if (may_hold(id)) __builtin_prefetch(&bucket_begins_[bucket_of(id)]);
    }
    for (const std::uint64_t id : some) {
      if (!may_hold(id)) continue;
      __builtin_prefetch(entries_.data() + bucket_begins_[bucket_of(id)]);
      __builtin_prefetch(entries_.data() + bucket_begins_[bucket_of(id) + 1] - 1);
    }
    for (std::size_t index = 0; index < some.size(); ++index) owners[first + index] = (*this)[some[index]];
  }
}

}  // namespace doctor
