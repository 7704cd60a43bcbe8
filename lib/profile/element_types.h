#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "trace/event_reader.h"

namespace doctor {

/// What the elements of a dataset are, as the events of its iterators say it; see element_bytes().
struct ElementType {
  std::string shapes;  ///< "[?,224,224,3] [?]"; empty if iterators of one name say different things
  std::string types;   ///< "uint8 int64"
};

/// By the name of the dataset's node ("BatchDatasetV2:3"). Empty before TF 2.13.
using ElementTypes = std::map<std::string, ElementType, std::less<>>;

/// Gathers them from the events of iterators.
class ElementTypesBuilder final : public EventSink {
 public:
  void take(const TraceEvent& event) override;
  bool wants(std::string_view argument) const override {
    return argument == "name" || argument == "shapes" || argument == "types";
  }
  ElementTypes finish() { return std::move(types_); }

 private:
  ElementTypes types_;
};

}  // namespace doctor
