#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace doctor {

/// A finding that the user has seen and accepts, for a reason and a time.
struct Suppression {
  std::string rule;
  std::string subject;  ///< pattern over the finding's subject; empty: whatever it is about
  std::string reason;   ///< foreign text
  std::optional<std::chrono::year_month_day> expires;  ///< the last day on which it counts; none: it never ends
  std::string source;  ///< where it was written: "--suppress", "/job/.tfdata-doctor.toml:12". Foreign text
};

}  // namespace doctor
