#include "query/event_clocks.h"

#include <sqlite3.h>

#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "base/time.h"
#include "convert/convert.h"

namespace doctor {
namespace {

/// A time that 64 bits of picoseconds are too few for.
struct Instant {
  std::int64_t ns = 0;
  std::int64_t ps = 0;  ///< beyond it, 0..999

  friend auto operator<=>(const Instant&, const Instant&) = default;
};

/// A clock that stands at the end of what 64 bits hold, which no machine's does, stays there.
Instant after(std::int64_t origin_ns, Picoseconds time) {
  const std::int64_t rest = time % kPicosecondsPerNanosecond;
  const std::int64_t ps = rest < 0 ? rest + kPicosecondsPerNanosecond : rest;
  Instant instant{0, ps};
  const std::int64_t since = (time - rest) / kPicosecondsPerNanosecond - (rest < 0 ? 1 : 0);
  if (__builtin_add_overflow(origin_ns, since, &instant.ns)) instant.ns = origin_ns;
  return instant;
}

/// From a base to the origin of a file; 0 where 64 bits are too few.
Picoseconds shift_of(std::int64_t origin_ns, const Instant& base) {
  Picoseconds shift = 0;
  const bool is_too_far = __builtin_sub_overflow(origin_ns, base.ns, &shift) ||
                          __builtin_mul_overflow(shift, kPicosecondsPerNanosecond, &shift) ||
                          __builtin_sub_overflow(shift, base.ps, &shift);
  return is_too_far ? 0 : shift;
}

struct Clock {
  std::int64_t file = 0;
  std::int64_t origin_ns = 0;
  Instant first;                ///< when its first event begins
  std::optional<Instant> base;  ///< what the times of its events count from; nothing where it is new
};

/// In order of time.
std::vector<Clock> read_clocks(const QueryDatabase& database) {
  const Statement rows =
      prepare(database.handle(), "SELECT file, origin_ns, first_ps, base_ns, base_ps FROM event_clocks");
  std::vector<Clock> clocks;
  while (rows && sqlite3_step(rows.get()) == SQLITE_ROW) {
    const auto value = [&](int column) { return sqlite3_column_int64(rows.get(), column); };
    Clock& clock = clocks.emplace_back(Clock{value(0), value(1), after(value(1), value(2)), {}});
    if (sqlite3_column_type(rows.get(), 3) != SQLITE_NULL) clock.base = {value(3), value(4)};
  }
  std::sort(clocks.begin(), clocks.end(),
            [](const Clock& a, const Clock& b) { return std::tie(a.first, a.file) < std::tie(b.first, b.file); });
  return clocks;
}

bool run(const Statement& statement, std::initializer_list<std::int64_t> values) {
  int parameter = 0;
  for (const std::int64_t value : values) sqlite3_bind_int64(statement.get(), ++parameter, value);
  const bool is_done = sqlite3_step(statement.get()) == SQLITE_DONE;
  sqlite3_reset(statement.get());
  return is_done;
}

/// What was measured of a trace is on the clock of its first file.
constexpr const char* kSetTraces =
    "UPDATE trace_clocks SET shift_ps = coalesce((SELECT (trace_clocks.origin_ns - file.base_ns) * 1000 - file.base_ps"
    " FROM event_clocks AS file WHERE file.trace = trace_clocks.trace ORDER BY file.file LIMIT 1), 0)";

}  // namespace

Result<void> set_event_clocks(QueryDatabase& database) {
  const Statement set_lines =
      prepare(database.handle(), "UPDATE event_lines SET origin_ns = ?, shift_ps = ? WHERE file = ?");
  const Statement set_clock =
      prepare(database.handle(), "UPDATE event_clocks SET base_ns = ?, base_ps = ? WHERE file = ?");
  if (!set_lines || !set_clock) return database.failure();
  std::optional<Instant> base;
  for (const Clock& clock : read_clocks(database)) {
    // In order of time: the first one that is too far from the last base begins a new one.
    if (!base || !are_related(clock.first.ns, base->ns)) base = clock.first;
    if (clock.base == base) continue;
    const Picoseconds shift = shift_of(clock.origin_ns, *base);
    if (!run(set_lines, {base->ns, shift, clock.file}) || !run(set_clock, {base->ns, base->ps, clock.file})) {
      return database.failure();
    }
  }
  return database.change(kSetTraces);
}

}  // namespace doctor
