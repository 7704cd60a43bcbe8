#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/time.h"

namespace doctor {

// Numbers as a person reads them, the same way on every page.

/// "94 us", "2.57 ms", "74.3 ms", "142 ms", "1.20 s": the unit that keeps the number between 1 and 1000.
std::string format_time(Picoseconds time);

/// "0.4%", "47%", "99%", "over 99%" of a share between 0 and 1: with a tenth below ten percent.
std::string format_share(double share);

/// "512 B", "4.86 kB", "65.5 MB", "15.6 GB": powers of 1000, as TensorFlow counts megabytes.
std::string format_bytes(std::uint64_t bytes);

/// "12,345".
std::string format_count(std::uint64_t count);

/// "8 calls", "1 call": `one` is the singular, its plural ends in s.
std::string format_count(std::uint64_t count, std::string_view one);

/// "1st", "2nd", "11th", "22nd".
std::string ordinal(std::uint64_t number);

/// A number with its unit as Evidence and Threshold carry them ("us", "ms", "share", "calls", "").
/// Four digits, of large numbers all those before the point: "0.0123", "12.35", "1,234,568".
std::string format_number(double value);
std::string format_quantity(double value, std::string_view unit);

}  // namespace doctor
