#include "base/chunked_vector.h"

#include <doctest/doctest.h>

namespace doctor::chunked_vector_test {

TEST_CASE("elements keep their values and places while a vector grows") {
  ChunkedVector<std::uint32_t> numbers;
  CHECK(numbers.empty());
  numbers.push_back(0);
  const std::uint32_t* const first = &numbers[0];
  for (std::uint32_t number = 1; number < 10'000; ++number) {
    numbers.push_back(number);
    REQUIRE(numbers.back() == number);
    REQUIRE(numbers.size() == number + 1);
  }
  for (std::uint32_t number = 0; number < numbers.size(); ++number) REQUIRE(numbers[number] == number);
  CHECK(&numbers[0] == first);
  CHECK(numbers.partition_point(0, [](std::uint32_t number) { return number < 4'321; }) == 4'321);
}

TEST_CASE("a vector that was moved from or cleared is empty and can be filled again") {
  ChunkedVector<int> source;
  for (int number = 0; number < 100; ++number) source.push_back(number);
  ChunkedVector<int> target = std::move(source);
  CHECK(target.size() == 100);
  source.clear();
  CHECK(source.empty());
  source.push_back(7);
  CHECK(source.back() == 7);
  target = std::move(source);
  CHECK(target.size() == 1);
  target.clear();
  CHECK(target.empty());
}

TEST_CASE("a thread with one event takes little: traces may have a million") {
  static_assert(sizeof(ChunkedVector<std::uint64_t>) == sizeof(void*));
  const ChunkedVector<int> none;
  const ChunkedVector<int> none_either;
  CHECK(none.empty());
  CHECK(none_either.empty());
}

}  // namespace doctor::chunked_vector_test
