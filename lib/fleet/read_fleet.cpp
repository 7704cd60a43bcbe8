#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>
#include <unordered_map>

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

  /// Calls `visit(row or error, line, name of the file)` for each line that is not blank.
  template <typename Visit>
  Result<void> read(Visit visit) {
    for (std::size_t index = 0; index < files_.size(); ++index) {
      std::unique_ptr<ByteSource> opened;
      if (kept_[index] == nullptr) {
        ASSIGN_OR_RETURN(opened, open_source(files_[index]));
      } else if (Result<void> start = kept_[index]->rewind(); !start) {
        return start;
      }
      ByteSource& source = opened ? *opened : *kept_[index];
      RETURN_IF_ERROR(read_lines(source, visit));
      std::error_code ignored;
      if (opened && !std::filesystem::is_regular_file(files_[index], ignored)) kept_[index] = std::move(opened);
    }
    return {};
  }

 private:
  template <typename Visit>
  static Result<void> read_lines(ByteSource& source, Visit& visit) {
    LineReader reader(source);
    while (true) {
      ASSIGN_OR_RETURN(const std::optional<Line> line, reader.next());
      if (!line) return {};
      if (const std::optional<Result<TraceRow>> row = row_in(*line)) visit(*row, *line, source.name());
    }
  }

  const std::vector<std::string>& files_;
  std::vector<std::unique_ptr<ByteSource>> kept_;  ///< indexed as the files
};

}  // namespace

Result<Fleet> read_fleet(const std::vector<std::string>& files, const RowGrouping& grouping) {
  RowFiles rows(files);
  std::unordered_map<ContentKey, std::uint64_t, ContentHash> wanted;  // the place of the row that counts
  std::uint64_t row_count = 0;
  std::uint64_t not_rows = 0;
  std::string first_not_row;
  Result<void> read = rows.read([&](const Result<TraceRow>& row, const Line& line, const std::string& name) {
    if (!row) {
      if (not_rows++ == 0) first_not_row = fmt::format("{} line {}: {}", name, line.number, row.error().what);
      return;
    }
    ++row_count;
    const std::uint64_t place = place_of(*row, fnv1a_64(line.text));
    std::uint64_t& best = wanted.try_emplace(key_of(*row), place).first->second;
    best = std::min(best, place);
  });
  if (!read) return Unexpected(read.error());
  FleetCounter counter(grouping);
  read = rows.read([&](const Result<TraceRow>& row, const Line& line, const std::string&) {
    if (!row) return;
    const std::uint64_t hash = fnv1a_64(line.text);
    const auto content = wanted.find(key_of(*row));
    // What was written to the file meanwhile has no place.
    if (content == wanted.end() || content->second != place_of(*row, hash)) return;
    wanted.erase(content);  // the same line again counts no more
    counter.add(*row, hash);
  });
  if (!read) return Unexpected(read.error());
  Fleet fleet = counter.finish();
  if (!fleet.slower_jobs.empty()) {
    RunDescriber runs(fleet.slower_jobs);
    read = rows.read([&](const Result<TraceRow>& row, const Line& line, const std::string&) {
      if (row) runs.add(*row, fnv1a_64(line.text));
    });
    if (!read) return Unexpected(read.error());
  }
  fleet.repeated = row_count - std::min(row_count, fleet.rows);
  fleet.not_rows = not_rows;
  fleet.first_not_row = first_not_row;
  return fleet;
}

}  // namespace doctor
