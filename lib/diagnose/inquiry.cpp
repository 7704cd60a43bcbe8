#include "diagnose/rule.h"

namespace doctor {

bool Examiner::at_least(Evidence measured, std::string_view threshold) {
  return compare(std::move(measured), Relation::at_least, threshold);
}

bool Examiner::at_most(Evidence measured, std::string_view threshold) {
  return compare(std::move(measured), Relation::at_most, threshold);
}

bool Examiner::above(Evidence measured, std::string_view threshold) {
  return compare(std::move(measured), Relation::above, threshold);
}

bool Examiner::compare(Evidence measured, Relation relation, std::string_view threshold) {
  const double value = measured.value;
  const double limit = thresholds_[threshold];
  bool holds = false;
  switch (relation) {
    case Relation::at_least:
      holds = value >= limit;
      break;
    case Relation::at_most:
      holds = value <= limit;
      break;
    case Relation::above:
      holds = value > limit;
      break;
  }
  if (keeps_questions_) {
    inquiry_.questions.push_back({{}, Comparison{std::move(measured), relation, std::string(threshold), limit}, holds});
  }
  return holds;
}

}  // namespace doctor
