#pragma once

namespace doctor {

/// What is wanted of a Profile for which each event of a host must be looked at. Without it that part is empty.
struct ProfileParts {
  bool host = true;
  bool ops = true;
  bool memory = true;
  bool element_types = true;
};

/// Those that rules and steps are judged by.
inline constexpr ProfileParts kDiagnosisParts = {.host = true, .ops = false, .memory = false, .element_types = false};

}  // namespace doctor
