#include <fcntl.h>
#include <unistd.h>

#include "base/try.h"
#include "batch/batch.h"
#include "io/file_io.h"
#include "io/trace_folder.h"

namespace doctor {
namespace {

/// Tests by its name whether a member may be a trace.
bool may_be_traced(std::string_view member) {
  const std::string_view name = member.substr(member.rfind('/') + 1);
  return as_trace_file(name).has_value() || may_be_trace(name);
}

}  // namespace

Result<std::unique_ptr<ArchivedTraces>> ArchivedTraces::open(const std::string& archive, std::string folder,
                                                             const Shard& shard) {
  RETURN_IF_ERROR(check_that_it_ends(archive));
  const bool is_standard_input = archive == "-";
  FileDescriptor file(is_standard_input ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                                        : ::open(archive.c_str(), O_RDONLY | O_CLOEXEC));
  const std::string name = is_standard_input ? "standard input" : archive;
  if (!file.is_open()) return Unexpected(path_error(name, errno));
  return std::unique_ptr<ArchivedTraces>(
      new ArchivedTraces(TarReader(std::move(file), name), std::move(folder), shard));
}

Result<std::string> ArchivedTraces::unpack(const TarMember& member) {
  const std::string path = folder_ + "/" + std::to_string(unpacked_++);
  const FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  RETURN_IF_ERROR(add_to_temporary_file(file, {}, member.name));
  std::array<char, std::size_t{64} << 10> piece;
  while (true) {
    const Result<std::size_t> count = archive_.read(piece.data(), piece.size());
    const Result<void> added =
        count ? add_to_temporary_file(file, {piece.data(), *count}, member.name) : Unexpected(count.error());
    if (!added) ::unlink(path.c_str());
    RETURN_IF_ERROR(added);
    if (*count == 0) return path + '\0' + member.name;
  }
}

std::optional<Result<std::string>> ArchivedTraces::next(PassedOver& passed_over) {
  while (true) {
    Result<std::optional<TarMember>> member = archive_.next();
    if (!member) return Unexpected(member.error());
    if (!*member) return std::nullopt;
    if ((*member)->is_folder) continue;
    if (!(*member)->is_file || !may_be_traced((*member)->name)) {
      passed_over.add((*member)->name);
    } else if (shard_.has((*member)->name)) {
      return unpack(**member);
    }
  }
}

std::deque<RowOrder::Task>::iterator RowOrder::find(const std::string& task) {
  return std::ranges::find(tasks_, task, &Task::first);
}

std::vector<std::string> RowOrder::take_first() {
  std::vector<std::string> rows;
  for (; !tasks_.empty() && tasks_.front().second; tasks_.pop_front()) {
    if (!tasks_.front().second->empty()) rows.push_back(*std::move(tasks_.front().second));
  }
  return rows;
}

std::vector<std::string> RowOrder::take(const std::string& task, std::string row) {
  const auto found = find(task);
  if (found == tasks_.end()) return row.empty() ? std::vector<std::string>() : std::vector{std::move(row)};
  found->second = std::move(row);
  return take_first();
}

std::vector<std::string> RowOrder::forget(const std::string& task) {
  if (const auto found = find(task); found != tasks_.end()) tasks_.erase(found);
  return take_first();
}

std::vector<std::string> RowOrder::take_all() {
  std::erase_if(tasks_, [](const Task& task) { return !task.second; });
  return take_first();
}

}  // namespace doctor
