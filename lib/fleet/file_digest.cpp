#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <system_error>
#include <vector>

#include "fleet/trace_row.h"
#include "io/file_descriptor.h"
#include "io/path_error.h"

namespace doctor {
namespace {

constexpr std::size_t kPieceSize = std::size_t{1} << 18;

struct ContextDeleter {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new()) {
    is_well_ = context_ != nullptr && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1;
  }

  void add(const char* bytes, std::size_t count) {
    is_well_ = is_well_ && EVP_DigestUpdate(context_.get(), bytes, count) == 1;
  }

  /// Empty where the library refuses.
  std::string finish() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned int size = 0;
    if (!is_well_ || EVP_DigestFinal_ex(context_.get(), digest.data(), &size) != 1) return {};
    std::string text;
    for (unsigned int index = 0; index < size; ++index) text += fmt::format("{:02x}", digest[index]);
    return text;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, ContextDeleter> context_;
  bool is_well_ = false;
};

}  // namespace

Result<std::string> sha256_of_file(const std::string& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return Unexpected(path_error(path, errno));
  Sha256 sha256;
  std::vector<char> piece(kPieceSize);
  while (true) {
    const ssize_t count = ::read(file.number(), piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail("cannot be read: " + std::system_category().message(errno), path);
    if (count == 0) break;
    sha256.add(piece.data(), static_cast<std::size_t>(count));
  }
  std::string digest = sha256.finish();
  if (digest.empty()) return fail("has no SHA-256: OpenSSL refuses to make one", path, "look at its configuration");
  return digest;
}

}  // namespace doctor
