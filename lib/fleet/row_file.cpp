#include "fleet/row_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <system_error>

#include "base/sha256.h"
#include "base/try.h"
#include "fleet/row_columns.h"
#include "io/file_descriptor.h"
#include "io/file_io.h"

namespace doctor {
namespace {

/// What may stand above the first row: lines that were torn or that another program wrote.
constexpr std::size_t kMostBeforeRows = std::size_t{4} << 20;

bool finds_row(ByteSource& source) {
  LineReader lines(source, kMostBeforeRows);
  for (std::size_t passed = 0; passed < kMostBeforeRows;) {
    const Result<std::optional<Line>> line = lines.next();
    if (!line || !*line) return false;
    passed += (*line)->text.size() + 1;
    // Lines of a trace are not parsed as well.
    const auto names = [&](std::string_view schema) { return (*line)->text.find(schema) != std::string_view::npos; };
    if (!names(kRowSchema) && !names(kRowSchemaBefore)) continue;
    const std::optional<Result<TraceRow>> row = row_in(**line);
    if (row && *row) return true;
  }
  return false;
}

/// A larger block makes malloc tidy up when it is freed, after each file.
constexpr std::size_t kPieceSize = std::size_t{32} << 10;

}  // namespace

std::optional<Result<TraceRow>> row_in(const Line& line) {
  if (line.text.find_first_not_of(" \t\r") == std::string_view::npos) return std::nullopt;
  if (line.is_too_long) return fail("is not a row: the line is too long", {});
  return parse_row(line.text);
}

bool holds_rows(ByteSource& source) {
  const bool found = finds_row(source);
  static_cast<void>(source.rewind());
  return found;
}

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
