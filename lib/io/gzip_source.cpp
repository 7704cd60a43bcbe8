#include <array>
#include <cstring>
#include <vector>

#include "io/gzip.h"
#include "io/stored_source.h"

namespace doctor {
namespace {

constexpr unsigned char kMagic[] = {0x1f, 0x8b};
constexpr unsigned char kDeflate = 8;
constexpr unsigned char kHasHeaderChecksum = 0x02;
constexpr unsigned char kHasExtraField = 0x04;
constexpr unsigned char kHasFileName = 0x08;
constexpr unsigned char kHasComment = 0x10;
constexpr unsigned char kReservedFlags = 0xe0;

/// A gzip of a few megabytes can hold gigabytes. In a trace each event, of a hundred bytes or more, has a time of its
/// own, which takes two bytes at least: that is 75-fold at most, and recorded traces reach 35-fold.
constexpr std::uint64_t kLargestExpansion = 250;
/// So much is handed out whatever it was before.
constexpr std::uint64_t kAnyExpansion = std::uint64_t{64} << 20;  // bytes

/// A window over the stored bytes. The last bytes before the window stay readable, so that an inflater which read
/// ahead can step back over a refill.
class StoredWindow {
 public:
  explicit StoredWindow(std::unique_ptr<ByteSource> stored) : stored_(std::move(stored)), buffer_(kMargin + kLength) {}

  std::string_view rest() const { return {buffer_.data() + position_, end_ - position_}; }

  void move(std::ptrdiff_t distance) {
    position_ = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(position_) + distance);
  }

  /// Only when rest() is empty. False at the end of the stored bytes or on a fault of theirs.
  bool refill() {
    std::memmove(buffer_.data(), buffer_.data() + end_ - kMargin, kMargin);
    position_ = end_ = kMargin;
    const Result<std::size_t> count = stored_->read(buffer_.data() + kMargin, kLength);
    if (!count) fault_ = count.error();
    end_ += count.value_or(0);
    return end_ > position_;
  }

  std::optional<unsigned char> next() {
    if (position_ == end_ && !refill()) return std::nullopt;
    return static_cast<unsigned char>(buffer_[position_++]);
  }

  bool skip(std::size_t count) {
    for (; count > 0; --count) {
      if (!next()) return false;
    }
    return true;
  }

  /// How many bytes there are from here to the end of the input; they are gone afterwards.
  std::uint64_t count_rest() {
    const std::uint64_t inside = end_ - position_;
    position_ = end_;
    const Result<std::uint64_t> outside = stored_->skip(std::numeric_limits<std::uint64_t>::max());
    return inside + outside.value_or(0);
  }

  Result<void> rewind() {
    position_ = end_ = kMargin;
    fault_.reset();
    return stored_->rewind();
  }

  const std::optional<Error>& fault() const { return fault_; }
  const ByteSource& stored() const { return *stored_; }
  std::uint64_t stored_position() const { return stored_->stored_position() - (end_ - position_); }

 private:
  static constexpr std::size_t kMargin = Inflater::kMostHeldBack;
  static constexpr std::size_t kLength = std::size_t{128} * 1024;

  std::unique_ptr<ByteSource> stored_;
  std::vector<char> buffer_;
  std::size_t position_ = kMargin;
  std::size_t end_ = kMargin;
  std::optional<Error> fault_;
};

class GzipSource final : public ByteSource {
 public:
  GzipSource(std::unique_ptr<ByteSource> stored, std::unique_ptr<Inflater> inflater)
      : input_(std::move(stored)), inflater_(std::move(inflater)) {}

  Result<std::size_t> read(char* buffer, std::size_t capacity) override {
    if (capacity == 0) return std::size_t{0};
    while (stage_ != Stage::finished) {
      if (stage_ == Stage::between_members) {
        begin_member();
      } else if (const std::size_t produced = inflate_into(buffer, capacity); produced > 0) {
        return produced;
      }
    }
    if (fault_) return Unexpected(*fault_);
    return std::size_t{0};
  }

  Result<std::uint64_t> skip(std::uint64_t count) override { return skip_by_reading(*this, count); }

  Result<void> rewind() override {
    stage_ = Stage::between_members;
    is_first_member_ = true;
    total_length_ = 0;
    fault_.reset();
    return input_.rewind();
  }

  const std::string& name() const override { return input_.stored().name(); }
  std::uint64_t stored_size() const override { return input_.stored().stored_size(); }
  std::uint64_t stored_position() const override { return input_.stored_position(); }
  bool is_compressed() const override { return true; }

 private:
  enum class Stage { between_members, in_member, finished };

  void begin_member() {
    std::uint64_t padding = 0;
    std::optional<unsigned char> byte = input_.next();
    for (; !is_first_member_ && byte && *byte == 0; byte = input_.next()) ++padding;
    if (!byte) return finish();
    if (*byte != kMagic[0]) return finish_before_junk(padding + 1);
    byte = input_.next();
    if (!byte) return finish_early();
    if (*byte != kMagic[1]) return finish_before_junk(padding + 2);
    if (!skip_header()) return;
    is_first_member_ = false;
    member_length_ = 0;
    inflater_->restart();
    stage_ = Stage::in_member;
  }

  /// Past the member's header, whose first two bytes were read; false when the source is finished with a fault.
  bool skip_header() {
    const std::optional<unsigned char> method = input_.next();
    const std::optional<unsigned char> flags = input_.next();
    if (method && flags && (*method != kDeflate || (*flags & kReservedFlags) != 0)) {
      note_fault("the gzip header is damaged", "copy or record the trace again");
      finish();
      return false;
    }
    const bool is_whole =
        method && flags && input_.skip(6) &&  // time, extra flags, operating system
        ((*flags & kHasExtraField) == 0 || skip_extra_field()) && ((*flags & kHasFileName) == 0 || skip_text()) &&
        ((*flags & kHasComment) == 0 || skip_text()) && ((*flags & kHasHeaderChecksum) == 0 || input_.skip(2));
    if (!is_whole) finish_early();
    return is_whole;
  }

  bool skip_extra_field() {
    const std::optional<unsigned char> low = input_.next();
    const std::optional<unsigned char> high = input_.next();
    return low && high && input_.skip(static_cast<std::size_t>(*low) + static_cast<std::size_t>(*high) * 256);
  }

  bool skip_text() {
    for (;;) {
      const std::optional<unsigned char> byte = input_.next();
      if (!byte || *byte == 0) return byte.has_value();
    }
  }

  std::size_t inflate_into(char* buffer, std::size_t capacity) {
    const Inflater::Step step = inflater_->inflate(input_.rest(), buffer, capacity);
    input_.move(step.consumed);
    member_length_ += step.produced;
    total_length_ += step.produced;
    if (step.state == Inflater::State::end) {
      end_member();
    } else if (step.state == Inflater::State::corrupt) {
      note_fault("the gzip data is damaged", "what comes before was read; copy or record the trace again");
      finish();
    } else if (expands_too_much()) {
      note_fault("the gzip data expands more than " + std::to_string(kLargestExpansion) + "-fold, as no trace does",
                 "what comes before was read; see where the file is from");
      finish();
    } else if (step.consumed == 0 && step.produced == 0 && (!input_.rest().empty() || !input_.refill())) {
      finish_early();
    }
    return step.produced;
  }

  bool expands_too_much() const {
    return total_length_ > kAnyExpansion && total_length_ / kLargestExpansion > stored_position();
  }

  /// Checks the trailer. The members after a wrong one are still found, so a mismatch is noted and not the end.
  void end_member() {
    std::array<std::uint32_t, 2> fields{};  // CRC-32 and length modulo 2^32, least significant byte first
    for (std::uint32_t& field : fields) {
      for (unsigned shift = 0; shift < 32; shift += 8) {
        const std::optional<unsigned char> byte = input_.next();
        if (!byte) return finish_early();
        field |= static_cast<std::uint32_t>(*byte) << shift;
      }
    }
    if (fields[0] != inflater_->checksum()) {
      note_fault("the gzip checksum does not match the data",
                 "some of it may be wrong; copy or record the trace again");
    } else if (fields[1] != static_cast<std::uint32_t>(member_length_)) {
      note_fault("the gzip length does not match the data",
                 "some of it may be missing; copy or record the trace again");
    }
    stage_ = Stage::between_members;
  }

  void finish_before_junk(std::uint64_t already_read) {
    const std::uint64_t count = already_read + input_.count_rest();
    const std::string subject = count == 1 ? "1 byte after the end of the gzip stream was"
                                           : std::to_string(count) + " bytes after the end of the gzip stream were";
    if (!fault_) fault_ = Error{subject + " ignored", name(), std::nullopt, "the gzip stream itself is whole"};
    finish();
  }

  void finish_early() {
    if (!input_.fault())
      note_fault("the gzip stream ends early", "what is there was read; copy or record the trace again");
    finish();
  }

  void finish() {
    if (input_.fault()) note_fault(input_.fault()->what, input_.fault()->next);
    stage_ = Stage::finished;
  }

  void note_fault(std::string what, std::string next) {
    if (!fault_) fault_ = Error{std::move(what), name(), total_length_, std::move(next)};
  }

  StoredWindow input_;
  std::unique_ptr<Inflater> inflater_;
  Stage stage_ = Stage::between_members;
  bool is_first_member_ = true;
  std::uint64_t member_length_ = 0;  // uncompressed
  std::uint64_t total_length_ = 0;   // uncompressed, of all members so far
  std::optional<Error> fault_;       // the first one; reported once everything was handed out
};

}  // namespace

std::unique_ptr<ByteSource> gzip_source(std::unique_ptr<ByteSource> stored, std::unique_ptr<Inflater> inflater) {
  return std::make_unique<GzipSource>(std::move(stored), std::move(inflater));
}

Result<std::unique_ptr<ByteSource>> inflated_if_gzip(std::unique_ptr<ByteSource> stored) {
  std::array<char, sizeof kMagic> head{};
  std::size_t length = 0;
  while (length < head.size()) {
    const Result<std::size_t> count = stored->read(head.data() + length, head.size() - length);
    if (!count) return Unexpected(count.error());
    if (*count == 0) break;
    length += *count;
  }
  if (const Result<void> back = stored->rewind(); !back) return Unexpected(back.error());
  if (std::memcmp(head.data(), kMagic, sizeof kMagic) != 0) return stored;
  std::unique_ptr<Inflater> fastest = isal_inflater();
  return gzip_source(std::move(stored), fastest ? std::move(fastest) : zlib_inflater());
}

}  // namespace doctor
