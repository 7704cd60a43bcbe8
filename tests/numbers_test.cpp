#include "text/numbers.h"

#include <doctest/doctest.h>

#include <limits>

namespace doctor::numbers_test {
namespace {

constexpr Picoseconds kUs = kPicosecondsPerMicrosecond;
constexpr Picoseconds kMs = kPicosecondsPerMillisecond;

}  // namespace

TEST_CASE("times are given in the unit that fits") {
  CHECK(format_time(0) == "0 us");
  CHECK(format_time(40'000) == "0.04 us");
  CHECK(format_time(1'500'000) == "1.5 us");
  CHECK(format_time(94 * kUs) == "94 us");
  CHECK(format_time(999'400'000) == "999 us");
  CHECK(format_time(999'600'000) == "1.00 ms");
  CHECK(format_time(2'570 * kUs) == "2.57 ms");
  CHECK(format_time(142'500 * kUs) == "142 ms");
  CHECK(format_time(999'960 * kUs) == "1.00 s");
  CHECK(format_time(7'200 * kPicosecondsPerSecond) == "7200 s");
  CHECK(format_time(-3 * kMs) == "-3.00 ms");
}

TEST_CASE("shares have a tenth close to their ends") {
  CHECK(format_share(0) == "0%");
  CHECK(format_share(0.0104) == "1.0%");
  CHECK(format_share(0.0996) == "10%");
  CHECK(format_share(0.47) == "47%");
  CHECK(format_share(0.987) == "99%");
  CHECK(format_share(0.9999) == "over 99%");
  CHECK(format_share(1) == "100%");
}

TEST_CASE("bytes are given in powers of 1000") {
  CHECK(format_bytes(0) == "0 B");
  CHECK(format_bytes(999) == "999 B");
  CHECK(format_bytes(4'864) == "4.86 kB");
  CHECK(format_bytes(999'960) == "1.00 MB");
  CHECK(format_bytes(65'483'520) == "65.5 MB");
  CHECK(format_bytes(15'633'884'160) == "15.6 GB");
  CHECK(format_bytes(20'000'000'000'000'000) == "20000 TB");
}

TEST_CASE("an ordinal ends as it is spoken") {
  CHECK(ordinal(1) == "1st");
  CHECK(ordinal(2) == "2nd");
  CHECK(ordinal(3) == "3rd");
  CHECK(ordinal(4) == "4th");
  CHECK(ordinal(11) == "11th");
  CHECK(ordinal(22) == "22nd");
  CHECK(ordinal(113) == "113th");
}

TEST_CASE("counts and quantities") {
  CHECK(format_count(0) == "0");
  CHECK(format_count(999) == "999");
  CHECK(format_count(1'000) == "1,000");
  CHECK(format_count(1'234'567) == "1,234,567");
  CHECK(format_count(1, "call") == "1 call");
  CHECK(format_count(2, "call") == "2 calls");
  CHECK(format_number(0) == "0");
  CHECK(format_number(0.00123456) == "0.001235");
  CHECK(format_number(12.3456) == "12.35");
  CHECK(format_number(9999.4) == "9999");
  CHECK(format_number(9999.6) == "10,000");
  CHECK(format_number(-1234567.5) == "-1,234,568");
  CHECK(format_number(1e15) == "1e+15");
  CHECK(format_number(std::numeric_limits<double>::infinity()) == "inf");
  CHECK(format_quantity(0.2, "share") == "20%");
  CHECK(format_quantity(50, "us") == "50 us");
  CHECK(format_quantity(41.2, "ms") == "41.2 ms");
  CHECK(format_quantity(3, "calls") == "3 calls");
  CHECK(format_quantity(-3, "") == "-3");
  CHECK(format_quantity(1.75, "cores") == "1.75 cores");
  CHECK(format_quantity(std::numeric_limits<double>::infinity(), "us") == "inf us");
}

}  // namespace doctor::numbers_test
