#include "program.h"

#include <fmt/format.h>

#include <cstdio>
#include <exception>

namespace bench {
namespace {

/// `work` turns a path into the line to print.
template <typename Work>
int run(int argc, char** argv, const Work& work) {
  if (argc != 2) {
    fmt::print(stderr, "usage: {} FILE\n", argv[0]);
    return 2;
  }
  try {
    const std::string line = work(argv[1]);
    std::fputs(line.c_str(), stdout);
    return std::fflush(stdout) == 0 ? 0 : 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}: {}\n", argv[0], argv[1], error.what());
    return 2;
  }
}

}  // namespace

int aggregate_main(int argc, char** argv, void (*read)(const std::string& path, Aggregate& aggregate)) {
  return run(argc, argv, [read](const std::string& path) {
    Aggregate aggregate;
    read(path, aggregate);
    return aggregate.summary();
  });
}

int floor_main(int argc, char** argv, Scanned (*scan)(const std::string& path)) {
  return run(argc, argv, [scan](const std::string& path) {
    const Scanned scanned = scan(path);
    return fmt::format("{{\"bytes\": {}, \"structures\": {}}}\n", scanned.bytes, scanned.structures);
  });
}

}  // namespace bench
