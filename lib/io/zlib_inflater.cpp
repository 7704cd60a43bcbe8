#include <zlib.h>

#include <new>

#include "io/gzip.h"

namespace doctor {
namespace {

class ZlibInflater final : public Inflater {
 public:
  ZlibInflater() {
    if (::inflateInit2(&stream_, -MAX_WBITS) != Z_OK) throw std::bad_alloc();  // negative: raw deflate
  }
  ZlibInflater(const ZlibInflater&) = delete;
  ZlibInflater& operator=(const ZlibInflater&) = delete;
  ~ZlibInflater() override { ::inflateEnd(&stream_); }

  void restart() override {
    ::inflateReset(&stream_);
    checksum_ = 0;
  }

  Step inflate(std::string_view input, char* output, std::size_t capacity) override {
    const uInt available = clamped_length(input.size());
    const uInt room = clamped_length(capacity);
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));  // zlib does not write to it
    stream_.avail_in = available;
    stream_.next_out = reinterpret_cast<Bytef*>(output);
    stream_.avail_out = room;
    const int code = ::inflate(&stream_, Z_NO_FLUSH);
    const uInt produced = room - stream_.avail_out;
    checksum_ = ::crc32(checksum_, reinterpret_cast<const Bytef*>(output), produced);
    return {static_cast<std::ptrdiff_t>(available - stream_.avail_in), produced, state_of(code)};
  }

  std::uint32_t checksum() const override { return static_cast<std::uint32_t>(checksum_); }

 private:
  static State state_of(int code) {
    switch (code) {
      case Z_OK:
      case Z_BUF_ERROR:  // nothing could be done without more input or room
        return State::more;
      case Z_STREAM_END:
        return State::end;
      case Z_MEM_ERROR:
        throw std::bad_alloc();
      default:
        return State::corrupt;
    }
  }

  z_stream stream_{};
  uLong checksum_ = 0;
};

}  // namespace

std::unique_ptr<Inflater> zlib_inflater() {
  return std::make_unique<ZlibInflater>();
}

}  // namespace doctor
