#include "io/bounded_file.h"

#include <fmt/format.h>

#include <memory>

#include "io/byte_source.h"

namespace doctor {

Result<std::string> read_bounded_file(const std::string& path, std::size_t most_bytes) {
  const Result<std::unique_ptr<ByteSource>> source = open_source(path);
  if (!source) return Unexpected(source.error());
  std::string text;
  std::string buffer(std::size_t{1} << 16U, '\0');
  while (true) {
    const Result<std::size_t> count = (*source)->read(buffer.data(), buffer.size());
    if (!count) return Unexpected(count.error());
    if (*count == 0) return text;
    if (text.size() + *count > most_bytes) return fail(fmt::format("is larger than {} MB", most_bytes >> 20U), path);
    text.append(buffer, 0, *count);
  }
}

}  // namespace doctor
