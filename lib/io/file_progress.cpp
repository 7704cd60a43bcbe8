#include "io/file_progress.h"

#include <sys/stat.h>
#include <unistd.h>

namespace doctor {

std::optional<std::uint64_t> stored_size_of(const std::string& file) {
  struct stat status {};
  const bool is_found = (file == "-" ? ::fstat(STDIN_FILENO, &status) : ::stat(file.c_str(), &status)) == 0;
  if (!is_found) return 0;  // it will not be read either
  if (!S_ISREG(status.st_mode)) return std::nullopt;
  return static_cast<std::uint64_t>(status.st_size);
}

FileProgress::FileProgress(Progress* progress, std::span<const std::string> files) : progress_(progress) {
  if (progress_ == nullptr) return;
  bool is_known = true;
  std::uint64_t total = 0;
  for (const std::string& file : files) {
    const std::optional<std::uint64_t> size = stored_size_of(file);
    is_known = is_known && size.has_value();
    total += size.value_or(0);
  }
  progress_->bytes_total = is_known ? total : 0;
  progress_->bytes_before = 0;
  progress_->events_before = 0;
}

void FileProgress::begin_file(std::size_t index) {
  if (progress_ != nullptr) progress_->file_index = index;
}

void FileProgress::end_file(const std::string& file) {
  if (progress_ == nullptr) return;
  // What could not be read is done with, too.
  progress_->bytes_before += stored_size_of(file).value_or(progress_->bytes_read);
  progress_->events_before += progress_->event_count;
  progress_->bytes_read = 0;
  progress_->event_count = 0;
}

}  // namespace doctor
