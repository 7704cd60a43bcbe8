// Arguments are decoded as if each event's were the first.

#include "trace/chrome/chrome_arguments.h"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

namespace doctor::chrome_arguments_test {
namespace {

/// An `args` object as TF writes it, and its members.
struct Written {
  std::string text;
  std::vector<JsonMember> members;

  explicit Written(std::string object) : text(std::move(object)) {
    JsonMembers walk(text);
    for (JsonMember member; walk.next(member);) members.push_back(member);
  }
  Written(const Written&) = delete;
};

std::string iterator_arguments(std::uint64_t id, const std::string& parallelism, const std::string& buffered) {
  return R"({"autotune":"true","buffered_elements":")" + buffered + R"(","id":")" + std::to_string(id) +
         R"(","long_name":"Iterator::Root::Prefetch::ParallelMapV2[)" + std::to_string(id % 3) +
         R"(]","name":"ParallelMapDatasetV2:\u0034","parallelism":")" + parallelism + R"(","parent_id":")" +
         std::to_string(id / 2) + R"(","shapes":"[]"})";
}

void check_same(const ChromeArguments& a, const Trace& of_a, const ChromeArguments& b, const Trace& of_b) {
  CHECK(a.long_name == b.long_name);
  CHECK(a.dataset_name == b.dataset_name);
  CHECK(a.id == b.id);
  CHECK(a.parent_id == b.parent_id);
  CHECK(a.element_id == b.element_id);
  CHECK(a.step_number == b.step_number);
  CHECK(a.closure == b.closure);
  REQUIRE(a.attributes.size() == b.attributes.size());
  for (std::size_t index = 0; index < a.attributes.size(); ++index) {
    const Attribute& one = a.attributes[index];
    const Attribute& other = b.attributes[index];
    CHECK(of_a.strings[one.name] == of_b.strings[other.name]);
    CHECK(one.is_number == other.is_number);
    CHECK(one.number == other.number);
    CHECK(of_a.strings[one.text] == of_b.strings[other.text]);
  }
}

}  // namespace

TEST_CASE("what arguments say does not depend on those before") {
  std::mt19937 random(3);
  TraceBuilder builder(TraceBuilder::Order::sorted);
  ChromeArgumentDecoder decoder;
  constexpr EventKind kKinds[] = {EventKind::iterator, EventKind::iterator, EventKind::produce, EventKind::get_next};
  for (int event = 0; event < 2'000; ++event) {
    // Few iterators, whose texts repeat, differ in one digit, or hold what is no number.
    const std::string parallelism = random() % 5 == 0 ? "unavailable" : std::to_string(random() % 12);
    const std::string object = random() % 40 == 0 ? R"({"id":"7","parallelism":"2"})"
                                                  : iterator_arguments(18'367'964'021'182'228'652u + random() % 4,
                                                                       parallelism, std::to_string(random() % 3));
    const Written written(object);
    CAPTURE(written.text);
    const EventKind kind = kKinds[random() % 4];
    const ChromeArguments& found = decoder.decode(written.members, kind, builder);
    CHECK(&found == &decoder.latest());
    TraceBuilder fresh_builder(TraceBuilder::Order::sorted);
    ChromeArgumentDecoder fresh;
    check_same(found, builder.trace(), fresh.decode(written.members, kind, fresh_builder), fresh_builder.trace());
  }
}

TEST_CASE("texts of repeated arguments that a trace has no room for are counted each time") {
  TraceBuilder builder(TraceBuilder::Order::sorted);
  for (std::size_t index = 0; index < StringTable::kMostStrings; ++index) builder.intern(std::to_string(index));
  const std::uint64_t before = builder.trace().strings.refused();
  const Written written(iterator_arguments(7, "a text of its own", "2"));
  ChromeArgumentDecoder decoder;
  decoder.decode(written.members, EventKind::iterator, builder);
  const std::uint64_t once = builder.trace().strings.refused() - before;
  CHECK(once > 0);
  decoder.decode(written.members, EventKind::iterator, builder);
  CHECK(builder.trace().strings.refused() > before + once);
}

TEST_CASE("more keys than are remembered mean what they mean") {
  TraceBuilder builder(TraceBuilder::Order::sorted);
  ChromeArgumentDecoder decoder;
  for (int key = 0; key < 200; ++key) {
    const Written written(R"({"key_)" + std::to_string(key) + R"(":"1","parallelism":")" + std::to_string(key) +
                          R"("})");
    const ChromeArguments& found = decoder.decode(written.members, EventKind::iterator, builder);
    REQUIRE(found.attributes.size() == 1);
    CHECK(found.attributes[0].number == key);
  }
}

}  // namespace doctor::chrome_arguments_test
