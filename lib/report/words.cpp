#include "report/words.h"

#include "tree/dataset_kind.h"

namespace doctor {

std::string describe(const IteratorMeasurement& iterator) {
  return std::string(without_version(iterator.short_name));
}

}  // namespace doctor
