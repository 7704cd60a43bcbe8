#include "built_paths.h"

namespace doctor {

std::string source_dir() {
  return DOCTOR_SOURCE_DIR;
}

const std::string& tool_path() {
#ifdef DOCTOR_TOOL
  static const std::string path = DOCTOR_TOOL;
#else
  static const std::string path;
#endif
  return path;
}

std::string intruder_path() {
  return DOCTOR_INTRUDER;
}

std::string lying_worker_path() {
  return DOCTOR_LYING_WORKER;
}

}  // namespace doctor
