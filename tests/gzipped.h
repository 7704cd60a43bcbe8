#pragma once

#include <doctest/doctest.h>
#include <zlib.h>

#include <string>

namespace doctor {

/// The text as one member of a gzip stream.
inline std::string gzipped(std::string text, gz_header* header = nullptr, int level = Z_DEFAULT_COMPRESSION) {
  z_stream stream{};
  REQUIRE(::deflateInit2(&stream, level, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  if (header != nullptr) ::deflateSetHeader(&stream, header);
  std::string out(::deflateBound(&stream, text.size()) + 1024, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(text.data());
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  REQUIRE(::deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  ::deflateEnd(&stream);
  return out;
}

}  // namespace doctor
