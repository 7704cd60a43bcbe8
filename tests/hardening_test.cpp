#include <doctest/doctest.h>
#include <elf.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

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

#ifdef DOCTOR_IS_HARDENED

TEST_CASE("the program is at a random address, and no memory of it can be both written and executed") {
  const Program program(DOCTOR_TOOL);
  CHECK(program.header().e_type == ET_DYN);
  CHECK((program.dynamic_value(DT_FLAGS_1) & DF_1_PIE) != 0);
  const Elf64_Phdr* const stack = program.segment(PT_GNU_STACK);
  REQUIRE(stack != nullptr);
  CHECK((stack->p_flags & PF_X) == 0);
}

TEST_CASE("what the dynamic linker fills in cannot be written afterwards") {
  const Program program(DOCTOR_TOOL);
  CHECK(program.segment(PT_GNU_RELRO) != nullptr);
  const bool is_bound_at_start =
      (program.dynamic_value(DT_FLAGS) & DF_BIND_NOW) != 0 || (program.dynamic_value(DT_FLAGS_1) & DF_1_NOW) != 0;
  CHECK(is_bound_at_start);
}

TEST_CASE("stacks, copies and containers are checked") {
  const Program program(DOCTOR_TOOL);
  const std::vector<std::string_view> used = program.symbols(/*are_defined=*/false);
  const auto uses = [&](std::string_view name) { return std::find(used.begin(), used.end(), name) != used.end(); };
  CHECK(uses("__stack_chk_fail"));
  CHECK(std::any_of(used.begin(), used.end(),
                    [](std::string_view name) { return name.starts_with("__") && name.ends_with("_chk"); }));
  CHECK(uses("_ZSt21__glibcxx_assert_failPKciS0_S0_"));
}

TEST_CASE("indirect jumps end at marked places") {
  // The note that says so of the whole program is missing where the C library's own start code is not marked.
  constexpr std::size_t kSome = 1'000;
  const Program program(DOCTOR_TOOL);
  if (program.header().e_machine == EM_X86_64) CHECK(program.count_in_code("\xf3\x0f\x1e\xfa") > kSome);   // endbr64
  if (program.header().e_machine == EM_AARCH64) CHECK(program.count_in_code("\x3f\x23\x03\xd5") > kSome);  // paciasp
}

TEST_CASE("no function of ours can be used or replaced by a library") {
  const Program program(DOCTOR_TOOL);
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
