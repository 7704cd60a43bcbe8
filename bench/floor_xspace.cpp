// Floor of XSpace: read every byte once and find where each plane, line and event begins and ends, looking into no
// event.

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "input_file.h"
#include "program.h"

namespace {

/// The bytes of a file, one window at a time, with their offsets.
class Window {
 public:
  explicit Window(const std::string& path) : file_(path), bytes_(bench::kWindow + 2 * kLongestHeader) {}

  /// Makes a whole field header available, or what the file has left; false at its end.
  bool fill() {
    if (begin_ + kLongestHeader <= end_) return true;
    if (begin_ > end_) throw std::runtime_error("not an XSpace");
    std::memmove(bytes_.data(), bytes_.data() + begin_, end_ - begin_);
    offset_ += begin_;
    end_ -= begin_;
    begin_ = 0;
    end_ += file_.read(bytes_.data() + end_, bench::kWindow);
    return end_ > 0;
  }

  std::uint64_t position() const { return offset_ + begin_; }

  /// Called with a header available, see fill(): what lies behind the last byte of a file is not read as long as that
  /// file is whole, and it is within the buffer if not.
  std::uint64_t read_varint() {
    const auto first = static_cast<unsigned char>(bytes_[begin_++]);
    if (first < 0x80) return first;
    std::uint64_t value = first & 0x7fu;
    for (unsigned shift = 7; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes_[begin_++]);
      value |= static_cast<std::uint64_t>(byte & 0x7fu) << shift;
      if (byte < 0x80) return value;
    }
    throw std::runtime_error("not an XSpace");
  }

  void skip(std::uint64_t count) {
    while (begin_ + count > end_) {
      count -= end_ - begin_;
      offset_ += end_;
      begin_ = 0;
      end_ = file_.read(bytes_.data(), bench::kWindow);
      if (end_ == 0) throw std::runtime_error("not an XSpace");
    }
    begin_ += count;
  }

 private:
  static constexpr std::size_t kLongestHeader = 20;  // two varints

  bench::InputFile file_;
  std::vector<char> bytes_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint64_t offset_ = 0;  ///< of the window in the file
};

constexpr std::uint64_t tag_of_bytes(std::uint64_t field) {
  return field << 3 | 2;
}

void skip_value(Window& window, std::uint64_t tag) {
  switch (tag & 7) {
    case 0:
      static_cast<void>(window.read_varint());
      return;
    case 1:
      return window.skip(8);
    case 2:
      return window.skip(window.read_varint());
    case 5:
      return window.skip(4);
    default:
      throw std::runtime_error("not an XSpace");
  }
}

bench::Scanned scan(const std::string& path) {
  // The field that leads one level down: XSpace.planes, XPlane.lines; XLine.events are skipped as they are.
  constexpr std::uint64_t kInner[] = {tag_of_bytes(1), tag_of_bytes(3)};
  constexpr std::size_t kLevels = std::size(kInner);
  std::uint64_t ends[kLevels + 1] = {std::numeric_limits<std::uint64_t>::max(), 0, 0};
  std::size_t level = 0;
  Window window(path);
  bench::Scanned scanned;
  while (window.fill()) {
    while (level > 0 && window.position() >= ends[level]) --level;
    const std::uint64_t tag = window.read_varint();
    ++scanned.structures;
    if (level < kLevels && tag == kInner[level]) {
      const std::uint64_t length = window.read_varint();
      ends[++level] = window.position() + length;
    } else {
      skip_value(window, tag);
    }
  }
  scanned.bytes = window.position();
  return scanned;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::floor_main(argc, argv, scan);
}
