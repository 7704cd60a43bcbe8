// Any bytes as what a worker of `batch` answers: what is read holds one row that says nothing else than the rest, and
// is written as it was read.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "batch/batch.h"
#include "diagnose/judgement_words.h"
#include "fuzzing.h"
#include "process/output.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace doctor;
  const auto answer = decode_diagnosed_trace({reinterpret_cast<const char*>(data), size});
  if (!answer) return 0;
  expect(answer->exit_code >= 0 && answer->exit_code <= kExitNothing, "an exit status that the program does not have");
  expect(!to_word(answer->status).empty(), "a verdict that there is not");
  expect(answer->budgets.empty() || answer->budgets.ends_with('\n'), "half a line about a budget");
  expect(answer->row || !answer->beside.empty(), "neither a row nor a file that has one");
  if (answer->row) {
    const std::string line = render_row(*answer->row);
    expect(line.find('\n') == line.size() - 1, "a row that is not one line");
    expect(answer->row->verdict.empty() == (answer->exit_code == kExitFailure), "a verdict beside an error");
  }
  const std::string text = encode(*answer);
  const auto again = decode_diagnosed_trace(text);
  expect(again && encode(*again) == text, "an answer that is read otherwise the second time");
  return 0;
}
