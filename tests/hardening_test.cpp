#include <doctest/doctest.h>
#include <elf.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "built_paths.h"

namespace doctor::hardening_test {
namespace {

/// The program as the linker wrote it, of this machine's kind (64 bits).
class Program {
 public:
  explicit Program(const std::string& path) {
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    bytes_.resize(static_cast<std::size_t>(std::max<std::streamoff>(file.tellg(), 0)));
    file.seekg(0);
    file.read(bytes_.data(), static_cast<std::streamsize>(bytes_.size()));
    REQUIRE(bytes_.size() > sizeof(Elf64_Ehdr));
    header_ = at<Elf64_Ehdr>(0);
    REQUIRE(std::memcmp(header_.e_ident, ELFMAG, SELFMAG) == 0);
    REQUIRE(header_.e_ident[EI_CLASS] == ELFCLASS64);
    for (std::size_t index = 0; index < header_.e_phnum; ++index) {
      segments_.push_back(at<Elf64_Phdr>(header_.e_phoff + index * sizeof(Elf64_Phdr)));
    }
    for (std::size_t index = 0; index < header_.e_shnum; ++index) {
      sections_.push_back(at<Elf64_Shdr>(header_.e_shoff + index * sizeof(Elf64_Shdr)));
    }
  }

  const Elf64_Ehdr& header() const { return header_; }

  const Elf64_Phdr* segment(std::uint32_t type) const {
    const auto found =
        std::find_if(segments_.begin(), segments_.end(), [&](const Elf64_Phdr& one) { return one.p_type == type; });
    return found == segments_.end() ? nullptr : &*found;
  }

  /// Of the flags that the dynamic linker is told.
  std::uint64_t dynamic_value(std::int64_t tag) const {
    for (const Elf64_Dyn& entry : all_of<Elf64_Dyn>(SHT_DYNAMIC)) {
      if (entry.d_tag == tag) return entry.d_un.d_val;
    }
    return 0;
  }

  /// "libfmt.so.9": the libraries that it is linked with.
  std::vector<std::string> libraries() const {
    std::vector<std::string> names;
    for (const Elf64_Shdr& table : sections_) {
      if (table.sh_type != SHT_DYNAMIC) continue;
      const std::string_view strings = content(sections_.at(table.sh_link));
      for (const Elf64_Dyn& entry : all_of<Elf64_Dyn>(SHT_DYNAMIC)) {
        if (entry.d_tag == DT_NEEDED) names.emplace_back(strings.data() + entry.d_un.d_val);
      }
    }
    return names;
  }

  /// Names that other objects could use, or that this one takes from them.
  std::vector<std::string_view> symbols(bool are_defined) const {
    std::vector<std::string_view> names;
    for (const Elf64_Shdr& table : sections_) {
      if (table.sh_type != SHT_DYNSYM) continue;
      const std::string_view strings = content(sections_.at(table.sh_link));
      for (const Elf64_Sym& symbol : all_of<Elf64_Sym>(SHT_DYNSYM)) {
        if ((symbol.st_shndx != SHN_UNDEF) == are_defined) names.emplace_back(strings.data() + symbol.st_name);
      }
    }
    return names;
  }

  /// What it takes from other objects in a certain version: {"_ZSt21__glibcxx_assert_failPKciS0_S0_",
  /// "GLIBCXX_3.4.30"}.
  std::vector<std::pair<std::string_view, std::string_view>> versioned_needs() const {
    std::map<std::uint16_t, std::string_view> versions;
    for (const Elf64_Shdr& table : sections_) {
      if (table.sh_type != SHT_GNU_verneed) continue;
      const std::string_view strings = content(sections_.at(table.sh_link));
      std::size_t place = table.sh_offset;
      for (std::size_t object = 0; object < table.sh_info; ++object) {
        const auto need = at<Elf64_Verneed>(place);
        std::size_t part = place + need.vn_aux;
        for (std::size_t index = 0; index < need.vn_cnt; ++index) {
          const auto version = at<Elf64_Vernaux>(part);
          versions[version.vna_other] = strings.data() + version.vna_name;
          part += version.vna_next;
        }
        place += need.vn_next;
      }
    }
    const std::vector<Elf64_Half> of_symbols = all_of<Elf64_Half>(SHT_GNU_versym);
    const std::vector<std::string_view> names = symbols_in_order();
    std::vector<std::pair<std::string_view, std::string_view>> needs;
    for (std::size_t index = 0; index < std::min(names.size(), of_symbols.size()); ++index) {
      if (const auto found = versions.find(of_symbols[index]); found != versions.end()) {
        needs.emplace_back(names[index], found->second);
      }
    }
    return needs;
  }

  /// How often the bytes are part of the code.
  std::size_t count_in_code(std::string_view wanted) const {
    std::size_t count = 0;
    for (const Elf64_Shdr& section : sections_) {
      if ((section.sh_flags & SHF_EXECINSTR) == 0) continue;
      const std::string_view code = content(section);
      for (std::size_t at = code.find(wanted); at != std::string_view::npos; at = code.find(wanted, at + 1)) ++count;
    }
    return count;
  }

 private:
  std::vector<std::string_view> symbols_in_order() const {
    std::vector<std::string_view> names;
    for (const Elf64_Shdr& table : sections_) {
      if (table.sh_type != SHT_DYNSYM) continue;
      const std::string_view strings = content(sections_.at(table.sh_link));
      for (const Elf64_Sym& symbol : all_of<Elf64_Sym>(SHT_DYNSYM)) names.emplace_back(strings.data() + symbol.st_name);
    }
    return names;
  }

  template <typename Record>
  Record at(std::size_t offset) const {
    Record record;
    REQUIRE(offset + sizeof(record) <= bytes_.size());
    std::memcpy(&record, bytes_.data() + offset, sizeof(record));
    return record;
  }

  std::string_view content(const Elf64_Shdr& section) const {
    return std::string_view(bytes_).substr(section.sh_offset, section.sh_size);
  }

  template <typename Record>
  std::vector<Record> all_of(std::uint32_t type) const {
    std::vector<Record> records;
    for (const Elf64_Shdr& section : sections_) {
      if (section.sh_type != type) continue;
      for (std::size_t at_byte = 0; at_byte < section.sh_size; at_byte += sizeof(Record)) {
        records.push_back(at<Record>(section.sh_offset + at_byte));
      }
    }
    return records;
  }

  std::string bytes_;
  Elf64_Ehdr header_{};
  std::vector<Elf64_Phdr> segments_;
  std::vector<Elf64_Shdr> sections_;
};

std::string text_of_file(const std::string& path) {
  std::ifstream file(source_dir() + "/" + path);
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A library by what builds and programs call it, and its title in THIRD_PARTY_NOTICES.md.
struct Notice {
  std::string_view package;  ///< Debian's, without "-dev"
  std::string_view file;     ///< begins the name of the shared library; empty: the library is headers only
  std::string_view include;  ///< begins the names of its headers; empty: no folder of its own
  std::string_view title;
  bool has_text = true;  ///< the notice has the text of the licence
};

constexpr std::array<Notice, 14> kNotices = {{
    {"libcli11", "", "CLI/", "[CLI11]"},
    {"libexpected", "", "tl/", "[expected]"},
    {"libfmt", "libfmt.so", "fmt/", "[{fmt}]"},
    {"libisal", "libisal.so", "", "[Intelligent Storage Acceleration Library]"},
    {"nlohmann-json3", "", "nlohmann/", "[JSON for Modern C++]"},
    {"libsimdjson", "libsimdjson.so", "", "[simdjson]"},
    {"libsqlite3", "libsqlite3.so", "", "[SQLite]"},
    {"libtomlplusplus", "", "toml++/", "[toml++]"},
    {"zlib1g", "libz.so", "", "[zlib]"},
    {"libcurl4-openssl", "libcurl", "curl/", "[libcurl]", false},
    {"", "libstdc++.so", "", "libstdc++", false},
    {"", "libgcc_s.so", "", "libgcc", false},
    {"", "libm.so", "sys/", "GNU C library", false},
    {"", "libc.so", "linux/", "GNU C library", false},
}};

/// What is said of a library, by one of its names; fails the test if nothing is.
void expect_notice(std::string_view name, std::string_view Notice::*kind) {
  INFO(name);
  static const std::string text = text_of_file("THIRD_PARTY_NOTICES.md");
  const auto* const known = std::find_if(kNotices.begin(), kNotices.end(), [&](const Notice& notice) {
    return !(notice.*kind).empty() && name.starts_with(notice.*kind);
  });
  REQUIRE_MESSAGE(known != kNotices.end(), "a library that THIRD_PARTY_NOTICES.md and this test do not know");
  const std::string title(known->title);
  const std::string table = text.substr(0, text.find("\n## "));
  CHECK(table.find(title) != std::string::npos);
  if (known->has_text) CHECK(text.find("\n## " + title.substr(1, title.size() - 2) + "\n") != std::string::npos);
}

/// 29 of "GLIBCXX_3.4.29", 34 of "GLIBC_2.34".
int last_number(std::string_view version) {
  return std::stoi(std::string(version.substr(version.rfind('.') + 1)));
}

// The wheel promises glibc 2.34 and the libstdc++ of manylinux_2_34, which ends with GLIBCXX_3.4.29. Its build brings
// what is newer itself (python/wheel.cmake). Other compilers than Debian 12's make other programs, and no wheel.
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ == 12 && defined(__x86_64__)
TEST_CASE("the program needs no newer symbol than the wheel may") {
  constexpr std::string_view kBroughtByWheel = "_ZSt21__glibcxx_assert_failPKciS0_S0_";
  const Program program(tool_path());
  std::size_t count = 0;
  for (const auto& [symbol, version] : program.versioned_needs()) {
    CAPTURE(symbol);
    CAPTURE(version);
    if (symbol == kBroughtByWheel) continue;
    if (version.starts_with("GLIBC_2.")) CHECK(last_number(version) <= 34);
    if (version.starts_with("GLIBCXX_3.4.")) CHECK(last_number(version) <= 29);
    if (version.starts_with("CXXABI_1.3.")) CHECK(last_number(version) <= 13);
    ++count;
  }
  CHECK(count > 50);
}
#endif

TEST_CASE("every library that is needed to build the program has a notice") {
  std::istringstream packages(text_of_file("scripts/packages.txt"));
  bool is_of_build = false;
  std::size_t count = 0;
  for (std::string line; std::getline(packages, line);) {
    if (line.starts_with("[")) is_of_build = line.starts_with("[build]");
    const std::string name = line.substr(0, line.find_first_of(" #"));
    if (!is_of_build || !name.ends_with("-dev")) continue;
    expect_notice(std::string_view(name).substr(0, name.size() - 4), &Notice::package);
    ++count;
  }
  CHECK(count > 5);
}

TEST_CASE("every library whose headers or files the sources name has a notice") {
  const std::regex header("#include <([^>]*/)[^>]*>");
  const std::regex file("\"(lib[a-z0-9_+-]+)\\.so[.0-9]*\"");
  std::size_t count = 0;
  for (const char* const folder : {"lib", "apps", "rules"}) {
    const std::string root = source_dir() + "/" + folder;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
      if (entry.path().extension() != ".cpp" && entry.path().extension() != ".h") continue;
      const std::string source = text_of_file(std::filesystem::relative(entry.path(), source_dir()).string());
      INFO(entry.path().string());
      for (std::sregex_iterator found(source.begin(), source.end(), header); found != std::sregex_iterator();
           ++found, ++count) {
        expect_notice((*found)[1].str(), &Notice::include);
      }
      for (std::sregex_iterator found(source.begin(), source.end(), file); found != std::sregex_iterator();
           ++found, ++count) {
        expect_notice((*found)[1].str(), &Notice::file);
      }
    }
  }
  CHECK(count > 100);
}

#ifdef DOCTOR_IS_HARDENED

TEST_CASE("every library that the program is linked with has a notice") {
  const std::vector<std::string> libraries = Program(tool_path()).libraries();
  CHECK(libraries.size() > 3);
  for (const std::string& library : libraries) {
    if (!library.starts_with("ld-linux")) expect_notice(library, &Notice::file);
  }
}

TEST_CASE("the program is at a random address, and no memory of it can be both written and executed") {
  const Program program(tool_path());
  CHECK(program.header().e_type == ET_DYN);
  CHECK((program.dynamic_value(DT_FLAGS_1) & DF_1_PIE) != 0);
  const Elf64_Phdr* const stack = program.segment(PT_GNU_STACK);
  REQUIRE(stack != nullptr);
  CHECK((stack->p_flags & PF_X) == 0);
}

TEST_CASE("what the dynamic linker fills in cannot be written afterwards") {
  const Program program(tool_path());
  CHECK(program.segment(PT_GNU_RELRO) != nullptr);
  const bool is_bound_at_start =
      (program.dynamic_value(DT_FLAGS) & DF_BIND_NOW) != 0 || (program.dynamic_value(DT_FLAGS_1) & DF_1_NOW) != 0;
  CHECK(is_bound_at_start);
}

TEST_CASE("stacks, copies and containers are checked") {
  const Program program(tool_path());
  const std::vector<std::string_view> used = program.symbols(/*are_defined=*/false);
  const auto uses = [&](std::string_view name) { return std::find(used.begin(), used.end(), name) != used.end(); };
  CHECK(uses("__stack_chk_fail"));
  CHECK(std::any_of(used.begin(), used.end(),
                    [](std::string_view name) { return name.starts_with("__") && name.ends_with("_chk"); }));
  CHECK(uses("_ZSt21__glibcxx_assert_failPKciS0_S0_"));
}

TEST_CASE("our code is ready for control-flow protection") {
  // That the program is marked for it, and so has it, is not promised: the C library's own start code decides that.
  constexpr std::size_t kSome = 1'000;
  const Program program(tool_path());
  if (program.header().e_machine == EM_X86_64) CHECK(program.count_in_code("\xf3\x0f\x1e\xfa") > kSome);   // endbr64
  if (program.header().e_machine == EM_AARCH64) CHECK(program.count_in_code("\x3f\x23\x03\xd5") > kSome);  // paciasp
}

TEST_CASE("no function of ours can be used or replaced by a library") {
  const Program program(tool_path());
  for (const std::string_view name : program.symbols(/*are_defined=*/true)) {
    INFO(name);
    CHECK(name.find("6doctor") == std::string_view::npos);
  }
}

#else

TEST_CASE("this build is not hardened") {
  MESSAGE("not checked: the build type, a sanitizer or DOCTOR_HARDENING=OFF leaves it out");
}

#endif

}  // namespace
}  // namespace doctor::hardening_test
