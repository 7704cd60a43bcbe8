#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/html/html_writer.h"
#include "report/html/page_documents.h"
#include "report/html/picture.h"
#include "report/html/stage_looks.h"

namespace doctor {

/// Pictures of one pipeline of a timeline: the loop, and each stage with the threads on which it works.
class TimelineDrawing {
 public:
  /// `pipeline` is an entry of the timeline, which lies at `pointer` in the page's data. Stages look as in the pipeline
  /// of the same id of `report`, which may be null.
  TimelineDrawing(const OrderedJson& pipeline, const std::string& pointer, const OrderedJson* report, HtmlWriter& page);

  /// What the looks mean.
  void add_key();

  /// The window on an axis that is at least `axis_length` us long.
  void add_window(const OrderedJson& window, std::string_view title, double axis_length = 0);

  /// Calls as strips on one axis, and the table of who held them.
  void add_calls(const std::vector<const OrderedJson*>& calls);

 private:
  const OrderedJson& stage(std::size_t index) const { return list_of(timeline_, "stages")[index]; }
  std::string look_of(const OrderedJson& held) const;
  std::string name_of(const OrderedJson& held) const;
  std::string reference_of(const OrderedJson& held) const;
  PictureBox box_of(const OrderedJson& stretch, double window_start) const;
  std::optional<PictureBox> box_inside(const OrderedJson& stretch, const OrderedJson& window) const;
  void add_lanes(const OrderedJson& window, LanePicture& picture) const;
  PictureLane loop_lane(const OrderedJson& window) const;
  void add_table_of_calls(const std::vector<const OrderedJson*>& calls);

  const OrderedJson& timeline_;
  std::string pointer_;
  HtmlWriter& page_;
  StageLooks looks_;
};

}  // namespace doctor
