#include "query/event_clocks.h"

#include <sqlite3.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.h"
#include "convert/convert.h"

namespace doctor {
namespace {

struct Clock {
  std::int64_t file = 0;
  std::int64_t origin_ns = 0;
  std::int64_t first_ns = 0;
  std::optional<std::int64_t> base_ns;  ///< what the times of its events count from; nothing where it is new

  std::int64_t earliest() const { return std::min(origin_ns, first_ns); }
  std::int64_t shift_ps(std::int64_t base) const { return (origin_ns - base) * kPicosecondsPerNanosecond; }
  bool is_near(std::int64_t base) const { return are_related(origin_ns, base) && are_related(first_ns, base); }
};

std::vector<Clock> read_clocks(const QueryDatabase& database) {
  const Statement rows = prepare(database.handle(),
                                 "SELECT file, origin_ns, first_ns, base_ns FROM event_clocks"
                                 " ORDER BY min(origin_ns, first_ns), origin_ns, file");
  std::vector<Clock> clocks;
  while (rows && sqlite3_step(rows.get()) == SQLITE_ROW) {
    Clock& clock = clocks.emplace_back();
    clock.file = sqlite3_column_int64(rows.get(), 0);
    clock.origin_ns = sqlite3_column_int64(rows.get(), 1);
    clock.first_ns = sqlite3_column_int64(rows.get(), 2);
    if (sqlite3_column_type(rows.get(), 3) != SQLITE_NULL) clock.base_ns = sqlite3_column_int64(rows.get(), 3);
  }
  return clocks;
}

bool run(const Statement& statement, std::initializer_list<std::int64_t> values) {
  int parameter = 0;
  for (const std::int64_t value : values) sqlite3_bind_int64(statement.get(), ++parameter, value);
  const bool is_done = sqlite3_step(statement.get()) == SQLITE_DONE;
  sqlite3_reset(statement.get());
  return is_done;
}

}  // namespace

Result<void> set_event_clocks(QueryDatabase& database) {
  const Statement set_lines =
      prepare(database.handle(), "UPDATE event_lines SET origin_ns = ?, shift_ps = ? WHERE file = ?");
  const Statement set_clock = prepare(database.handle(), "UPDATE event_clocks SET base_ns = ? WHERE file = ?");
  if (!set_lines || !set_clock) return database.failure();
  std::optional<std::int64_t> base;
  for (const Clock& clock : read_clocks(database)) {
    // In order of time: the first one that is too far from the last base begins a new one.
    if (!base || !clock.is_near(*base)) base = clock.is_near(clock.earliest()) ? clock.earliest() : clock.origin_ns;
    if (clock.base_ns == base) continue;
    if (!run(set_lines, {*base, clock.shift_ps(*base), clock.file}) || !run(set_clock, {*base, clock.file})) {
      return database.failure();
    }
  }
  return {};
}

}  // namespace doctor
