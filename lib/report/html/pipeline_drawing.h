#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/html/html_writer.h"
#include "report/html/page_documents.h"
#include "report/html/stage_looks.h"

namespace doctor {

/// A stage in the order of the user's code, and the tracks beside it, as a graph of commits is drawn.
struct DrawnStage {
  const OrderedJson* iterator = nullptr;
  std::size_t index = 0;        ///< into the iterators of the report
  std::size_t track = 0;        ///< the column of its mark
  std::size_t open_before = 0;  ///< tracks that come from above
  std::size_t joins = 0;        ///< tracks to the right of its own that end in it: its other inputs
};

/// A pipeline of a report as a drawing in the order of the user's code: sources first, the training loop last.
class PipelineDrawing {
 public:
  /// `pipeline` is an entry of a report, which lies at `pointer` in the page's data. `autotune` may be null.
  PipelineDrawing(const OrderedJson& pipeline, const std::string& pointer, const OrderedJson* autotune,
                  HtmlWriter& page);

  /// `tags` are words for stages, by long name: foreign text.
  void draw(const std::map<std::string, std::string>& tags = {});

 private:
  /// In us, of the whole recording.
  double work_of(const DrawnStage& stage) const {
    return number_of(*stage.iterator, "self_us") + number_of(*stage.iterator, "function_us");
  }
  double work_per_element(const DrawnStage& stage) const {
    const double calls = number_of(*stage.iterator, "calls");
    return calls > 0 ? work_of(stage) / calls : 0;
  }
  /// Of the wait.
  double share_of(const DrawnStage& stage) const {
    return waited_ > 0 ? number_of(*stage.iterator, "critical_us") / waited_ : 0;
  }

  void add_stage(const DrawnStage& stage, const std::string& tag);
  bool is_idle(const DrawnStage& stage, const std::map<std::string, std::string>& tags) const;
  void add_idle_stages(std::span<const DrawnStage> stages);
  void add_elsewhere();
  std::string_view culprit_words() const;
  void add_loop(std::size_t tracks);
  void add_table_of_stages();

  const OrderedJson& pipeline_;
  const OrderedJson* autotune_;
  std::string pointer_;
  StageLooks looks_;
  std::vector<DrawnStage> stages_;
  HtmlWriter& page_;
  double steps_ = 0;
  double waited_ = 0;
  double most_work_ = 0;
};

}  // namespace doctor
