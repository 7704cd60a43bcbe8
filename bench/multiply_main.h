#pragma once

#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

namespace bench {

/// The main function of the generators: `multiply` writes the events of the base trace `copies` times to `output`.
inline int multiply_main(int argc, char** argv,
                         void (*multiply)(const std::string& base, std::uint64_t copies, const char* output)) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s BASE COPIES OUTPUT\n", argv[0]);
    return 2;
  }
  try {
    const std::uint64_t copies = std::stoull(argv[2]);
    if (copies == 0) throw std::runtime_error("0 copies are none");
    multiply(argv[1], copies, argv[3]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 2;
  }
  return 0;
}

}  // namespace bench
