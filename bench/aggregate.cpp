#include "aggregate.h"

#include <fmt/format.h>
#include <zlib.h>

namespace bench {
namespace {

/// CRC-32 of a text: what zlib, Python and every database can compute.
unsigned long checksum(const std::string& text) {
  return ::crc32_z(0, reinterpret_cast<const Bytef*>(text.data()), text.size());
}

}  // namespace

NameId Aggregate::intern(std::string_view name) {
  if (const auto found = ids_.find(name); found != ids_.end()) return found->second;
  const NameId id{static_cast<std::uint32_t>(totals_.size())};
  ids_.emplace(names_.emplace_back(name), id);
  totals_.emplace_back();
  return id;
}

std::string Aggregate::summary() const {
  const std::map<std::string_view, NameId> sorted(ids_.begin(), ids_.end());
  std::string durations;
  std::string selves;
  Picoseconds sum = 0;
  Picoseconds self = 0;
  std::size_t used_names = 0;
  for (const auto& [name, id] : sorted) {
    const NameTotals& totals = totals_[static_cast<std::size_t>(id)];
    if (totals.count == 0) continue;
    ++used_names;
    sum += totals.sum;
    self += totals.self;
    durations += fmt::format("{}\t{}\t{}\t{}\t{}\n", name, totals.count, totals.sum, totals.shortest, totals.longest);
    selves += fmt::format("{}\t{}\n", name, totals.self);
  }
  std::size_t used_threads = 0;
  for (const auto& [key, thread] : threads_) {
    if (thread.open.empty()) continue;
    ++used_threads;
    selves += fmt::format("{}\t{}\t{}\n", key.first, key.second, thread.self);
  }
  std::string line = fmt::format(
      R"({{"events": {}, "names": {}, "threads": {}, "out_of_order": {}, "duration_ps": {}, "self_ps": {}, )"
      R"("durations_checksum": {}, "self_checksum": {})",
      events_, used_names, used_threads, out_of_order_, sum, self, checksum(durations), checksum(selves));
  if (stats_ != 0) line += fmt::format(R"(, "stats_checksum": {})", stats_);
  return line + "}\n";
}

}  // namespace bench
