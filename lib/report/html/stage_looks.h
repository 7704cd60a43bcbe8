#pragma once

#include <map>
#include <string>
#include <string_view>

#include "report/html/page_documents.h"

namespace doctor {

/// How the stages of a pipeline look, by long name, the same in every picture of a page: the culprit "hot", the four
/// that hold most of the wait after it "s2" to "s5", all others "other".
class StageLooks {
 public:
  StageLooks() = default;
  /// `pipeline` is an entry of a report's pipelines.
  explicit StageLooks(const OrderedJson& pipeline);

  std::string of(std::string_view long_name) const;

 private:
  std::map<std::string, std::string, std::less<>> looks_;
};

}  // namespace doctor
