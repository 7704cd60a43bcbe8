#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "base/hash.h"
#include "base/try.h"
#include "fleet/fleet.h"
#include "fleet/fleet_counter.h"
#include "fleet/row_file.h"
#include "io/byte_source.h"
#include "io/line_reader.h"

namespace doctor {
namespace {

/// A content, 128 bits of what names it: of its SHA-256, or of the path where there is none.
struct ContentKey {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  friend bool operator==(const ContentKey& a, const ContentKey& b) { return a.high == b.high && a.low == b.low; }
};

struct ContentHash {
  std::size_t operator()(const ContentKey& key) const { return static_cast<std::size_t>(key.low); }
};

ContentKey key_of(const TraceRow& row) {
  if (row.file.sha256.empty()) return {fnv1a_64("path:" + row.file.path), fnv1a_64(row.file.path + ":path")};
  return {fnv1a_64("content:" + row.file.sha256), fnv1a_64(row.file.sha256 + ":content")};
}

/// The row that counts is the one of the smallest place: one without an error, if there is one, then by its hash, which
/// has nothing to do with the order in which rows come.
std::uint64_t place_of(const TraceRow& row, std::uint64_t hash) {
  constexpr std::uint64_t kLast = std::uint64_t{1} << 63;
  return hash >> 1 | (row.error.empty() ? 0 : kLast);
}

/// The files, which are read twice. What cannot be opened again (a pipe) stays open and is kept by its source.
class RowFiles {
 public:
  explicit RowFiles(const std::vector<std::string>& files) : files_(files), kept_(files.size()) {}

  /// Calls `visit(row or error, line, name of the file)` for each line that is not blank, `visit_part(line)` for each
  /// that is a part of a fleet.
  template <typename Visit, typename VisitPart>
  Result<void> read(Visit visit, VisitPart visit_part) {
    for (std::size_t index = 0; index < files_.size(); ++index) {
      std::unique_ptr<ByteSource> opened;
      if (kept_[index] == nullptr) {
        ASSIGN_OR_RETURN(opened, open_source(files_[index]));
      } else if (Result<void> start = kept_[index]->rewind(); !start) {
        return start;
      }
      ByteSource& source = opened ? *opened : *kept_[index];
      RETURN_IF_ERROR(read_lines(source, visit, visit_part));
      std::error_code ignored;
      if (opened && !std::filesystem::is_regular_file(files_[index], ignored)) kept_[index] = std::move(opened);
    }
    return {};
  }

 private:
  template <typename Visit, typename VisitPart>
  static Result<void> read_lines(ByteSource& source, Visit& visit, VisitPart& visit_part) {
    LineReader reader(source);
    std::uint64_t parts = 0;  // since the last end of such
    while (true) {
      ASSIGN_OR_RETURN(const std::optional<Line> line, reader.next());
      if (!line) break;
      const std::string_view kind = kind_of_part(line->text);
      if (kind.empty()) {
        if (const std::optional<Result<TraceRow>> row = row_in(*line)) visit(*row, *line, source.name());
        continue;
      }
      Result<void> taken = kind == "end" ? Result<void>() : visit_part(line->text);
      if (!taken) {
        taken.error().where = fmt::format("{} line {}", source.name(), line->number);
        return taken;
      }
      parts = kind != "end" ? parts + 1 : is_end_of_parts(line->text, parts) ? 0 : 1;
      if (kind == "end" && parts > 0) break;
    }
    if (parts == 0) return {};
    return fail("has not all lines that 'fleet --partial' wrote", source.name(), "write them anew");
  }

  const std::vector<std::string>& files_;
  std::vector<std::unique_ptr<ByteSource>> kept_;  ///< indexed as the files
};

/// The readings of the files.
class FleetReading {
 public:
  FleetReading(const std::vector<std::string>& files, const RowGrouping& grouping) : rows_(files), counter_(grouping) {}

  Result<void> count() {
    std::uint64_t row_count = 0;
    std::uint64_t counted = 0;
    std::uint64_t not_rows = 0;
    std::string first_not_row;
    const auto note = [&](const Result<TraceRow>& row, const Line& line, const std::string& name) {
      if (!row) {
        if (not_rows++ == 0) first_not_row = fmt::format("{} line {}: {}", name, line.number, row.error().what);
        return;
      }
      ++row_count;
      const std::uint64_t place = place_of(*row, fnv1a_64(line.text));
      std::uint64_t& best = wanted_.try_emplace(key_of(*row), place).first->second;
      best = std::min(best, place);
    };
    const auto add = [&](const Result<TraceRow>& row, const Line& line, const std::string&) {
      if (!row) return;
      const std::uint64_t hash = fnv1a_64(line.text);
      const auto content = wanted_.find(key_of(*row));
      // What was written to the file meanwhile has no place.
      if (content == wanted_.end() || content->second != place_of(*row, hash)) return;
      wanted_.erase(content);  // the same line again counts no more
      ++counted;
      counter_.add(*row, hash);
    };
    RETURN_IF_ERROR(rows_.read(note, [](std::string_view) { return Result<void>(); }));
    RETURN_IF_ERROR(rows_.read(add, [&](std::string_view part) { return counter_.add_part(part); }));
    counter_.add_passed_over(row_count - counted, not_rows, first_not_row);
    return {};
  }

  /// Calls `visit(row, hash)` with each row and each run of parts.
  template <typename Visit>
  Result<void> read_runs(Visit visit) {
    return rows_.read(
        [&](const Result<TraceRow>& row, const Line& line, const std::string&) {
          if (row) visit(*row, fnv1a_64(line.text));
        },
        [&](std::string_view part) -> Result<void> {
          if (kind_of_part(part) != "run") return {};
          ASSIGN_OR_RETURN(const FleetRun run, parse_run(part));
          visit(run.row, run.hash);
          return {};
        });
  }

  FleetCounter& counter() { return counter_; }

 private:
  RowFiles rows_;
  std::unordered_map<ContentKey, std::uint64_t, ContentHash> wanted_;  ///< the place of the row that counts
  FleetCounter counter_;
};

}  // namespace

Result<Fleet> read_fleet(const std::vector<std::string>& files, const RowGrouping& grouping) {
  FleetReading reading(files, grouping);
  RETURN_IF_ERROR(reading.count());
  Fleet fleet = reading.counter().finish();
  if (fleet.slower_jobs.empty()) return fleet;
  RunDescriber runs(fleet.slower_jobs);
  RETURN_IF_ERROR(reading.read_runs([&](const TraceRow& row, std::uint64_t hash) { runs.add(row, hash); }));
  return fleet;
}

Result<std::string> read_fleet_parts(const std::vector<std::string>& files, const RowGrouping& grouping) {
  FleetReading reading(files, grouping);
  RETURN_IF_ERROR(reading.count());
  std::vector<std::string> lines = reading.counter().parts();
  const auto sums = static_cast<std::ptrdiff_t>(lines.size());
  std::unordered_map<std::uint64_t, std::int64_t> runs = reading.counter().runs();
  RETURN_IF_ERROR(reading.read_runs([&](TraceRow row, std::uint64_t hash) {
    const auto run = runs.find(hash);
    if (run == runs.end()) return;
    row.recorded_ns = run->second;  // of its first host
    runs.erase(run);
    lines.push_back(render_run(row, hash));
  }));
  std::sort(lines.begin() + sums, lines.end());  // in whatever order their rows came
  lines.push_back(end_of_parts(lines.size()));
  return fmt::format("{}", fmt::join(lines, ""));
}

}  // namespace doctor
