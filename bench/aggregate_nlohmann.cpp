// Baseline: nlohmann's SAX parser over a file stream.

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "chrome_members.h"
#include "program.h"

namespace {

using bench::Aggregate;
using bench::ChromeMembers;

/// nlohmann's callbacks; each returns whether to go on.
class Handler : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit Handler(Aggregate& aggregate) : members_(aggregate) {}

  bool null() override { return true; }
  bool boolean(bool /*value*/) override { return true; }
  bool binary(binary_t& /*value*/) override { return true; }
  bool number_integer(number_integer_t value) override { return number_unsigned(static_cast<std::uint64_t>(value)); }
  bool number_unsigned(number_unsigned_t value) override {
    members_.integer(value);
    return true;
  }
  bool number_float(number_float_t value, const string_t& /*text*/) override {
    members_.real(value);
    return true;
  }
  bool string(string_t& value) override {
    members_.text(value);
    return true;
  }
  bool key(string_t& value) override {
    members_.key(value);
    return true;
  }
  bool start_object(std::size_t /*size*/) override { return begin(); }
  bool start_array(std::size_t /*size*/) override { return begin(); }
  bool end_object() override { return end(); }
  bool end_array() override { return end(); }
  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const nlohmann::json::exception& error) override {
    throw std::runtime_error(error.what());
  }

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

void read(const std::string& path, Aggregate& aggregate) {
  std::vector<char> buffer(std::size_t{512} << 10);
  std::ifstream file;
  file.rdbuf()->pubsetbuf(buffer.data(), static_cast<std::streamsize>(buffer.size()));
  file.open(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read the file");
  Handler handler(aggregate);
  nlohmann::json::sax_parse(file, &handler);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::aggregate_main(argc, argv, read);
}
