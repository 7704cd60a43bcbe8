// Runs a fuzz target over stored inputs: every file named on the command line, and every file below a folder named; of
// a file *.tar every member. With --random N SEED as first arguments then over N others that are made of them by
// chance: a search without coverage, for builds without libFuzzer. The same seed gives the same inputs; one that
// crashes is kept in the working directory.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/tar_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

std::vector<std::filesystem::path> files_at(const std::filesystem::path& path) {
  if (!std::filesystem::is_directory(path)) return {path};
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// The input that runs, for whoever sees it crash.
std::string running;  // NOLINT(*-avoid-non-const-global-variables): a signal handler has no other way to it

extern "C" void keep_running_input(int signal) {
  const int file = ::open("crash-input", O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file >= 0 && ::write(file, running.data(), running.size()) >= 0) ::close(file);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

/// A few bytes of an input changed, left out or put in, or it and another joined.
std::string mutated(const std::vector<std::string>& inputs, std::mt19937_64& random) {
  constexpr std::size_t kLongest = 4096;
  const auto below = [&](std::size_t limit) { return static_cast<std::size_t>(random() % limit); };
  std::string input = inputs.empty() ? std::string() : inputs[below(inputs.size())];
  if (below(4) == 0) {
    input.assign(below(300), '\0');
    for (char& byte : input) byte = static_cast<char>(random());
  }
  for (std::size_t changes = 1 + below(8); changes > 0; --changes) {
    const std::size_t at = below(input.size() + 1);
    const std::size_t kind = below(8);
    if (kind < 4 && at < input.size()) {
      input[at] = static_cast<char>(random());
    } else if (kind == 4) {
      input.erase(at, below(16));
    } else if (kind == 5 && !inputs.empty()) {
      const std::string& other = inputs[below(inputs.size())];
      input.insert(at, other, below(other.size() + 1), below(200));
    } else {
      input.insert(at, 1 + below(4), static_cast<char>(random()));
    }
  }
  if (input.size() > kLongest) input.resize(kLongest);
  return input;
}

void search(const std::vector<std::string>& inputs, std::uint64_t count, std::uint64_t seed) {
  for (const int signal : {SIGILL, SIGTRAP, SIGSEGV, SIGABRT, SIGFPE, SIGBUS}) std::signal(signal, keep_running_input);
  std::mt19937_64 random(seed);
  for (std::uint64_t done = 0; done < count; ++done) {
    running = mutated(inputs, random);
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(running.data()), running.size());
  }
  std::printf("ran %llu inputs of seed %llu\n", static_cast<unsigned long long>(count),
              static_cast<unsigned long long>(seed));
}

struct StoredInput {
  std::string name;
  std::string bytes;
};

std::string read_file(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw std::runtime_error("cannot open " + file.string());
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// The members of a tar archive, as `scripts/fuzz --minimise` writes it.
std::vector<StoredInput> members_of(const std::filesystem::path& file) {
  doctor::TarReader archive(doctor::FileDescriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC)), file.string());
  std::vector<StoredInput> members;
  while (true) {
    const auto member = archive.next();
    if (!member) throw std::runtime_error(to_string(member.error()));
    if (!*member) break;
    std::string bytes((*member)->bytes, '\0');
    if (const auto count = archive.read(bytes.data(), bytes.size()); !count) {
      throw std::runtime_error(to_string(count.error()));
    }
    if ((*member)->is_file) members.push_back({file.string() + ":" + (*member)->name, std::move(bytes)});
  }
  if (members.empty()) throw std::runtime_error(file.string() + " holds no input");
  return members;
}

void replay(const std::filesystem::path& path, std::vector<std::string>& stored) {
  for (const auto& file : files_at(path)) {
    std::vector<StoredInput> inputs;
    if (file.extension() == ".tar") {
      inputs = members_of(file);
    } else {
      inputs.push_back({file.string(), read_file(file)});
    }
    for (const auto& [name, bytes] : inputs) {
      // Printed before the run: when the target crashes, the last line names the input.
      std::printf("%s (%zu bytes)\n", name.c_str(), bytes.size());
      std::fflush(stdout);
      LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
      stored.push_back(bytes);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const bool is_search = argc > 3 && std::string_view(argv[1]) == "--random";
    std::vector<std::string> stored;
    for (int i = is_search ? 4 : 1; i < argc; ++i) replay(argv[i], stored);
    std::printf("replayed %zu inputs\n", stored.size());
    if (is_search) {
      search(stored, std::stoull(argv[2]), std::stoull(argv[3]));
      return 0;
    }
    // An empty or mistyped folder must not look like a pass.
    return stored.empty() ? 1 : 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
