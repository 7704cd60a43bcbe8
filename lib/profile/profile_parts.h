#pragma once

namespace doctor {

/// The parts of a Profile that need a look at every event of a host. A part that is not requested is empty.
struct ProfileParts {
  bool host = true;
  bool ops = true;
  bool memory = true;
  bool element_types = true;
};

/// The parts that rules and steps use.
inline constexpr ProfileParts kDiagnosisParts = {.host = true, .ops = false, .memory = false, .element_types = false};

}  // namespace doctor
