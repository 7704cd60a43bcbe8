#include <zlib.h>

#include "io/gzip.h"

#ifdef DOCTOR_HAVE_ISAL
#include <isa-l.h>
#endif

#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <vector>

namespace doctor {
namespace {

/// Both libraries count 32 bits of input; compressed bytes are handed on in pieces of this size.
constexpr std::size_t kLargestPiece = std::size_t{1} << 30;
constexpr std::size_t kOutputSize = std::size_t{128} << 10;

/// What the two have in common: input in pieces, output through a buffer.
class GzipSink : public ByteSink {
 public:
  explicit GzipSink(ByteSink& target) : target_(target), output_(kOutputSize) {}

  Result<void> write(std::string_view bytes) override {
    while (!bytes.empty()) {
      const std::string_view piece = bytes.substr(0, kLargestPiece);
      bytes.remove_prefix(piece.size());
      if (Result<void> written = deflate(piece, false); !written) return written;
    }
    return {};
  }

  Result<void> finish() override {
    if (Result<void> written = deflate({}, true); !written) return written;
    return target_.finish();
  }

 protected:
  /// Deflates all of `input`; with `is_end`, to the end of the member.
  virtual Result<void> deflate(std::string_view input, bool is_end) = 0;

  Result<void> hand_on(std::size_t size) {
    return target_.write({reinterpret_cast<const char*>(output_.data()), size});
  }
  std::vector<std::uint8_t>& output() { return output_; }

 private:
  ByteSink& target_;
  std::vector<std::uint8_t> output_;
};

class ZlibGzipSink final : public GzipSink {
 public:
  explicit ZlibGzipSink(ByteSink& target) : GzipSink(target) {
    constexpr int kWithGzipHeader = MAX_WBITS + 16;
    constexpr int kMemoryLevel = 8;  // zlib's default
    const int state =
        ::deflateInit2(&stream_, Z_BEST_SPEED, Z_DEFLATED, kWithGzipHeader, kMemoryLevel, Z_DEFAULT_STRATEGY);
    if (state != Z_OK) throw std::bad_alloc();
  }
  ~ZlibGzipSink() override { ::deflateEnd(&stream_); }

 private:
  Result<void> deflate(std::string_view input, bool is_end) override {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));  // zlib does not write to it
    stream_.avail_in = static_cast<uInt>(input.size());
    do {
      stream_.next_out = output().data();
      stream_.avail_out = static_cast<uInt>(output().size());
      ::deflate(&stream_, is_end ? Z_FINISH : Z_NO_FLUSH);
      if (Result<void> written = hand_on(output().size() - stream_.avail_out); !written) return written;
    } while (stream_.avail_out == 0);
    return {};
  }

  z_stream stream_{};
};

#ifdef DOCTOR_HAVE_ISAL

/// A quarter smaller than level 0 in the same time (210 MB of a Chrome trace: 16.8 and 22.2 MB, 0.13 s); level 3 gains
/// 3 % in 2.6 times the time, zlib's fastest takes 4 times it.
constexpr std::uint32_t kIsalLevel = 1;

class IsalGzipSink final : public GzipSink {
 public:
  explicit IsalGzipSink(ByteSink& target) : GzipSink(target), level_buffer_(ISAL_DEF_LVL1_DEFAULT) {
    ::isal_deflate_init(&stream_);
    stream_.gzip_flag = IGZIP_GZIP;
    stream_.level = kIsalLevel;
    stream_.level_buf = level_buffer_.data();
    stream_.level_buf_size = static_cast<std::uint32_t>(level_buffer_.size());
  }

 private:
  Result<void> deflate(std::string_view input, bool is_end) override {
    stream_.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(input.data()));  // ISA-L does not write to it
    stream_.avail_in = static_cast<std::uint32_t>(input.size());
    stream_.end_of_stream = is_end ? 1 : 0;
    do {
      stream_.next_out = output().data();
      stream_.avail_out = static_cast<std::uint32_t>(output().size());
      ::isal_deflate(&stream_);
      if (Result<void> written = hand_on(output().size() - stream_.avail_out); !written) return written;
    } while (stream_.avail_out == 0);
    return {};
  }

  isal_zstream stream_{};
  std::vector<std::uint8_t> level_buffer_;
};

#endif

}  // namespace

std::unique_ptr<ByteSink> zlib_gzip_sink(ByteSink& target) {
  return std::make_unique<ZlibGzipSink>(target);
}

std::unique_ptr<ByteSink> isal_gzip_sink([[maybe_unused]] ByteSink& target) {
#ifdef DOCTOR_HAVE_ISAL
  return std::make_unique<IsalGzipSink>(target);
#else
  return nullptr;
#endif
}

std::unique_ptr<ByteSink> gzip_sink(ByteSink& target) {
  std::unique_ptr<ByteSink> fastest = isal_gzip_sink(target);
  return fastest != nullptr ? std::move(fastest) : zlib_gzip_sink(target);
}

}  // namespace doctor
