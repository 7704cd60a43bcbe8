// Floor of JSON in gzip: read every byte once, inflate it with ISA-L, and find the structure.

#include <isa-l.h>

#include <memory>
#include <vector>

#include "input_file.h"
#include "program.h"
#include "structure_scan.h"

namespace {

bench::Scanned scan(const std::string& path) {
  bench::InputFile file(path);
  bench::StructureScan structures;
  std::vector<char> stored(bench::kWindow);
  const auto state = std::make_unique<inflate_state>();
  ::isal_inflate_init(state.get());
  state->crc_flag = ISAL_GZIP;

  while (state->block_state != ISAL_BLOCK_FINISH) {
    const auto room = static_cast<std::uint32_t>(structures.room_size());
    state->next_out = reinterpret_cast<std::uint8_t*>(structures.room());
    state->avail_out = room;
    while (state->avail_out > 0 && state->block_state != ISAL_BLOCK_FINISH) {
      if (state->avail_in == 0) {
        state->avail_in = static_cast<std::uint32_t>(file.read(stored.data(), stored.size()));
        state->next_in = reinterpret_cast<std::uint8_t*>(stored.data());
        if (state->avail_in == 0) throw std::runtime_error("the gzip stream ends early");
      }
      if (::isal_inflate(state.get()) != ISAL_DECOMP_OK) throw std::runtime_error("damaged gzip");
    }
    structures.take(room - state->avail_out, state->block_state == ISAL_BLOCK_FINISH);
  }
  return structures.scanned();
}

}  // namespace

int main(int argc, char** argv) {
  return bench::floor_main(argc, argv, scan);
}
