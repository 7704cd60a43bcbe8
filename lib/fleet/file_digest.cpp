#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <memory>
#include <system_error>

#include "base/sha256.h"
#include "base/try.h"
#include "fleet/trace_row.h"
#include "io/file_descriptor.h"
#include "io/file_io.h"
#include "io/path_error.h"

namespace doctor {
namespace {

/// A larger block makes malloc tidy up when it is freed, after each file.
constexpr std::size_t kPieceSize = std::size_t{32} << 10;

}  // namespace

Result<std::string> sha256_of_file(const std::string& path) {
  RETURN_IF_ERROR(check_that_it_ends(path));
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return Unexpected(path_error(path, errno));
  Sha256 sha256;
  const auto piece = std::make_unique_for_overwrite<char[]>(kPieceSize);  // not cleared
  while (true) {
    const ssize_t count = read_some(file.number(), piece.get(), kPieceSize);
    if (count < 0) return fail("cannot be read: " + std::system_category().message(errno), path);
    if (count == 0) break;
    sha256.add({piece.get(), static_cast<std::size_t>(count)});
  }
  return sha256.finish();
}

}  // namespace doctor
