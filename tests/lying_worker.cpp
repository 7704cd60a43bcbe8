// Loaded into the program by lying_worker_test.cpp: code that has taken a worker of `batch` or `watch` over, and
// changes what it answers its parent, in the way that $LIE names. $LIE_PATH is a file outside the folders of the batch.

#include <dlfcn.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

using Write = ssize_t (*)(int, const void*, std::size_t);

constexpr std::size_t kMessageHead = 8;  // kind and length
constexpr std::size_t kAnswerHead = 3;   // exit status, status, whether a budget is open
constexpr std::uint32_t kResult = 2;

struct Answer {
  std::string head;
  std::vector<std::string> parts;  ///< budgets, the file beside, the row
};

std::string bytes_of(std::uint64_t number) {
  return {reinterpret_cast<const char*>(&number), sizeof(number)};
}

Answer answer_in(std::string_view body) {
  Answer answer = {std::string(body.substr(0, kAnswerHead)), {}};
  body.remove_prefix(kAnswerHead);
  while (!body.empty()) {
    std::uint64_t length = 0;
    std::memcpy(&length, body.data(), sizeof(length));
    answer.parts.emplace_back(body.substr(sizeof(length), length));
    body.remove_prefix(sizeof(length) + length);
  }
  return answer;
}

std::string text_of(const Answer& answer) {
  std::string text = answer.head;
  for (const std::string& part : answer.parts) text += bytes_of(part.size()) + part;
  return text;
}

/// Text of a row, of which the first place is replaced.
std::string with(std::string row, const std::string& old, const std::string& other) {
  const std::size_t place = row.find(old);
  return place == std::string::npos ? row : row.replace(place, old.size(), other);
}

std::string lie(const std::string& kind, Answer answer) {
  const std::string path = std::getenv("LIE_PATH");
  std::string& row = answer.parts[2];
  if (kind == "nothing") return {};
  if (kind == "length") return answer.head + bytes_of(std::uint64_t{1} << 40) + row;
  if (kind == "status") answer.head[1] = 100;
  if (kind == "exit-status") answer.head[0] = 100;
  if (kind == "other-status") answer.head[1] = static_cast<char>(answer.head[1] ^ 1);
  if (kind == "no-row") row.clear();
  if (kind == "no-json") row = "x\n";
  if (kind == "half-a-line") row.pop_back();
  if (kind == "two-rows") row += with(row, R"("path":"")", R"("path":"forged")");
  if (kind == "budget") answer.parts[0] = "no end of the line";
  if (kind == "beside") answer.parts = {"", path, ""};
  if (kind == "pair") answer.parts[1] = path;
  if (kind == "file")
    row = with(row, R"("path":"","bytes":0,"sha256":null)", R"("path":"forged","bytes":7,"sha256":"ab")");
  return text_of(answer);
}

void send_all(Write real, int file, const std::string& bytes) {
  static_cast<void>(!real(file, bytes.data(), bytes.size()));
}

[[noreturn]] void answer_without_end(Write real, int file) {
  const std::uint32_t head[] = {kResult, UINT32_MAX};
  send_all(real, file, {reinterpret_cast<const char*>(head), sizeof(head)});
  while (true) send_all(real, file, std::string(std::size_t{1} << 16, 'x'));
}

}  // namespace

/// In place of the C library's.
extern "C" __attribute__((visibility("default"))) ssize_t write(int file, const void* bytes, std::size_t size) {
  static const auto real = reinterpret_cast<Write>(::dlsym(RTLD_NEXT, "write"));
  std::uint32_t head[2] = {};
  if (size >= kMessageHead) std::memcpy(head, bytes, sizeof(head));
  if (head[0] != kResult || head[1] != size - kMessageHead) return real(file, bytes, size);
  const std::string kind = std::getenv("LIE");
  if (kind == "endless") answer_without_end(real, file);
  const std::string body = lie(kind, answer_in({static_cast<const char*>(bytes) + kMessageHead, head[1]}));
  head[1] = static_cast<std::uint32_t>(body.size());
  std::string message = std::string(reinterpret_cast<const char*>(head), sizeof(head)) + body;
  if (kind == "twice") message += message;
  send_all(real, file, message);
  return static_cast<ssize_t>(size);
}
