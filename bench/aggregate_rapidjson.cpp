// Baseline: RapidJSON's SAX parser over a file stream.

#include <rapidjson/error/en.h>
#include <rapidjson/filereadstream.h>
#include <rapidjson/reader.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "chrome_members.h"
#include "program.h"

namespace {

using bench::Aggregate;
using bench::ChromeMembers;

/// RapidJSON's callbacks; each returns whether to go on.
class Handler : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, Handler> {
 public:
  explicit Handler(Aggregate& aggregate) : members_(aggregate) {}

  bool Default() { return true; }
  bool Int(int value) { return Int64(value); }
  bool Uint(unsigned value) { return Uint64(value); }
  bool Int64(std::int64_t value) { return Uint64(static_cast<std::uint64_t>(value)); }
  bool Uint64(std::uint64_t value) {
    members_.integer(value);
    return true;
  }
  bool Double(double value) {
    members_.real(value);
    return true;
  }
  bool String(const char* text, rapidjson::SizeType size, bool /*copy*/) {
    members_.text({text, size});
    return true;
  }
  bool Key(const char* text, rapidjson::SizeType size, bool /*copy*/) {
    members_.key({text, size});
    return true;
  }
  bool StartObject() { return begin(); }
  bool StartArray() { return begin(); }
  bool EndObject(rapidjson::SizeType /*count*/) { return end(); }
  bool EndArray(rapidjson::SizeType /*count*/) { return end(); }

 private:
  bool begin() {
    members_.begin();
    return true;
  }
  bool end() {
    members_.end();
    return true;
  }

  ChromeMembers members_;
};

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

void read(const std::string& path, Aggregate& aggregate) {
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rb"));
  if (!file) throw std::runtime_error("cannot read the file");
  std::vector<char> buffer(std::size_t{512} << 10);
  rapidjson::FileReadStream stream(file.get(), buffer.data(), buffer.size());
  Handler handler(aggregate);
  rapidjson::Reader reader;
  const rapidjson::ParseResult result = reader.Parse(stream, handler);
  if (!result) throw std::runtime_error(rapidjson::GetParseError_En(result.Code()));
}

}  // namespace

int main(int argc, char** argv) {
  return bench::aggregate_main(argc, argv, read);
}
