#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "trace/annotations.h"

namespace doctor {

/// Where annotations go in the document.
struct AnnotationPlace {
  std::uint64_t pid = 0;                ///< a process id of their own
  Picoseconds shift = 0;                ///< added to all times
  std::uint64_t* last_arrow = nullptr;  ///< ids of arrows continue from here, because they must be unique in a document
};

/// Calls `visit` with each event of a Chrome trace that draws the group, as text. The first events are the label by
/// which readers skip the process (kAnnotationLabel), and its sort order, which puts it on top.
void visit_annotation_rows(const AnnotationGroup& group, const AnnotationPlace& place,
                           const std::function<void(const std::string& row)>& visit);

}  // namespace doctor
