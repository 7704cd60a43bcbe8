#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "batch/trace_list.h"
#include "io/tar_reader.h"

namespace doctor {

/// The traces in a tar archive, one after another, each unpacked into a file of its own until it is diagnosed: at most
/// as many files as there are tasks. Members that are not traces are passed over as files of a folder are.
class ArchivedTraces {
 public:
  /// Opens an archive; "-" is standard input. Its members are unpacked into `folder`, under numbers. Errors: it cannot
  /// be opened.
  static Result<std::unique_ptr<ArchivedTraces>> open(const std::string& archive, std::string folder,
                                                      const Shard& shard);

  /// The next trace, as the path that it is unpacked to, a zero byte and its name in the archive; or the error after
  /// which there is no other. nullopt at the end.
  std::optional<Result<std::string>> next(PassedOver& passed_over);

 private:
  ArchivedTraces(TarReader archive, std::string folder, const Shard& shard)
      : archive_(std::move(archive)), folder_(std::move(folder)), shard_(shard) {}

  Result<std::string> unpack(const TarMember& member);

  TarReader archive_;
  std::string folder_;
  Shard shard_;
  std::uint64_t unpacked_ = 0;
};

/// Tests whether a task of a batch is a trace of an archive.
inline bool is_archived(std::string_view task) {
  return task.find('\0') != std::string_view::npos;
}

/// Puts rows in the order in which their traces were begun, whichever is done first.
class RowOrder {
 public:
  void begin(std::string task) { tasks_.emplace_back(std::move(task), std::nullopt); }

  /// Takes the row of a task that was begun, empty if it gets none. Returns the rows that wait for no other task now.
  std::vector<std::string> take(const std::string& task, std::string row);

  /// Forgets a task: it gets a row later. Returns the rows that wait for no other task now.
  std::vector<std::string> forget(const std::string& task);

  /// The rows that still wait, in order.
  std::vector<std::string> take_all();

  /// The number of tasks from the first one without a row on.
  std::size_t size() const { return tasks_.size(); }

 private:
  using Task = std::pair<std::string, std::optional<std::string>>;

  std::deque<Task>::iterator find(const std::string& task);
  std::vector<std::string> take_first();

  std::deque<Task> tasks_;  ///< with their rows, where these are done
};

}  // namespace doctor
