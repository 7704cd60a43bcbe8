// What a sink uses is asked once for the names and keys that come again, and is what it says without the table.

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/hash.h"
#include "trace/chrome/chrome_event_reading.h"

namespace doctor::known_uses_test {
namespace {

/// Uses of each text alone, and how often it was asked.
class CountingSink final : public EventSink {
 public:
  void take(const TraceEvent& /*event*/) override {}
  ArgumentGroups groups_of(std::string_view argument) const override {
    return static_cast<ArgumentGroups>(fnv1a_64(argument));
  }
  EventUse use_of(std::string_view name) override {
    ++asked;
    return {name.size() % 2 == 0, static_cast<ArgumentGroups>(name.size()), fnv1a_64(name)};
  }

  std::size_t asked = 0;
};

/// More names than are kept at once: of any length, and many that differ in their middle alone.
std::vector<std::string> many_names() {
  std::vector<std::string> names = {"", "a", "MakeIterator", "EagerExecute: f", "$dataset_ops.py:4775 __next__"};
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

TEST_CASE("the use of a name does not depend on the names before") {
  CountingSink sink;
  KnownUses uses(sink);
  for (int round = 0; round < 3; ++round) {
    for (const std::string& name : many_names()) {
      CAPTURE(name.substr(0, 60));
      for (int again = 0; again < 2; ++again) {
        const EventUse use = uses.use_of(name);
        CHECK(use.is_taken == (name.size() % 2 == 0));
        CHECK(use.arguments == static_cast<ArgumentGroups>(name.size()));
        CHECK(use.meaning == fnv1a_64(name));
      }
    }
  }
}

TEST_CASE("a name that comes again is asked for once") {
  CountingSink sink;
  KnownUses uses(sink);
  for (int time = 0; time < 10; ++time) uses.use_of("Iterator::Root::Map");
  CHECK(sink.asked == 1);
}

TEST_CASE("more keys than are remembered have their groups, and their names without escapes") {
  CountingSink sink;
  KnownUses uses(sink);
  for (int round = 0; round < 2; ++round) {
    std::size_t kept = 0;
    for (int number = 0; number < 200; ++number) {
      const KnownUses::Key& key = uses.key("key_\\u0061" + std::to_string(number));
      CHECK(key.name == "key_a" + std::to_string(number));
      CHECK(key.groups == sink.groups_of(key.name));
      kept += uses.is_kept(key) ? 1 : 0;
    }
    CHECK(kept > 0);
    CHECK(kept < 200);
  }
}

}  // namespace doctor::known_uses_test
