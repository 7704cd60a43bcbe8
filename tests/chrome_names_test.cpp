#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "trace/chrome/chrome_arguments.h"

namespace doctor::chrome_names_test {
namespace {

/// More names than are kept at once: of all kinds, of any length, and many that differ in their middle alone.
std::vector<std::string> many_names() {
  std::vector<std::string> names = {
      "", "a", "MakeIterator", "EagerExecute: f", "PjitFunction(step)", "aten::add", "$dataset_ops.py:4775 __next__"};
  for (int index = 0; index < 700; ++index) {
    const std::string number = std::to_string(index);
    names.push_back("Iterator::Map" + number + "::Range");
    names.push_back("dense_" + number + "/MatMul:MatMul");
    names.push_back(number);
    if (index % 70 == 0) names.push_back("Iterator::" + std::string(3'000, 'x') + number);
  }
  return names;
}

}  // namespace

TEST_CASE("what names say is what they say without the table") {
  const std::vector<std::string> names = many_names();
  TraceBuilder builder(TraceBuilder::Order::sorted);
  TraceBuilder other(TraceBuilder::Order::sorted);
  ChromeNames table;
  for (int round = 0; round < 3; ++round) {
    for (const std::string& text : names) {
      CAPTURE(text.substr(0, 60));
      ChromeName& name = table.find(text);
      CHECK(name.text == text);
      CHECK(name.kind == classify_event(text));
      CHECK(name.framework == framework_of_event(text));
      CHECK(name.length == name_length_of(text));
      for (int again = 0; again < 2; ++again) {
        const auto subject = [&](EventKind kind) { return ChromeNames::subject_of(name, kind, builder); };
        CHECK(subject(EventKind::iterator) == other.intern(text));
        CHECK(subject(EventKind::op) == other.intern(op_type_of(text)));
        CHECK(subject(EventKind::next_frame) == other.intern(loader_of_frame(text)));
      }
    }
  }
}

TEST_CASE("names that a trace has no room for are counted each time") {
  TraceBuilder builder(TraceBuilder::Order::sorted);
  for (std::size_t index = 0; index < StringTable::kMostStrings; ++index) builder.intern(std::to_string(index));
  const std::uint64_t before = builder.trace().strings.refused();
  ChromeNames table;
  for (int time = 0; time < 3; ++time) ChromeNames::subject_of(table.find("one more"), EventKind::iterator, builder);
  CHECK(builder.trace().strings.refused() == before + 3);
}

}  // namespace doctor::chrome_names_test
