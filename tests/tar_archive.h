#pragma once

#include <cstddef>
#include <cstdio>
#include <string>

namespace doctor {

/// A member of an archive that a test writes; empty fields are filled in.
struct TarHeader {
  std::string name;
  std::string bytes = {};
  char kind = '0';
  std::string prefix = {};
  std::string magic = std::string(
      "ustar\0"
      "00",
      8);
  std::string size = {};  ///< the field as it is
};

inline const std::string kTarEnd = std::string(1024, '\0');

/// The header of a member and its content, each filled up to whole blocks.
inline std::string member_of(const TarHeader& header) {
  std::string block(512, '\0');
  const auto put = [&](std::size_t at, const std::string& text) { block.replace(at, text.size(), text); };
  char octal[12] = {};
  std::snprintf(octal, sizeof(octal), "%011zo", header.bytes.size());
  put(0, header.name);
  put(124, header.size.empty() ? octal : header.size);
  put(148, "        ");
  block[156] = header.kind;
  put(257, header.magic);
  put(345, header.prefix);
  unsigned sum = 0;
  for (const char byte : block) sum += static_cast<unsigned char>(byte);
  std::snprintf(octal, sizeof(octal), "%06o", sum);
  put(148, std::string(octal) + '\0' + ' ');
  std::string content = header.bytes;
  content.resize((content.size() + 511) / 512 * 512, '\0');
  return block + content;
}

}  // namespace doctor
