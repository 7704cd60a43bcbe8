// Floor of JSON: read every byte once and find the structure.

#include "input_file.h"
#include "program.h"
#include "structure_scan.h"

namespace {

bench::Scanned scan(const std::string& path) {
  bench::InputFile file(path);
  bench::StructureScan structures;
  for (bool is_last = false; !is_last;) {
    const std::size_t size = file.read(structures.room(), structures.room_size());
    is_last = size < structures.room_size();
    structures.take(size, is_last);
  }
  return structures.scanned();
}

}  // namespace

int main(int argc, char** argv) {
  return bench::floor_main(argc, argv, scan);
}
