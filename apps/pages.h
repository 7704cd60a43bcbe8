#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "command_line/output_targets.h"
#include "pipeline.h"
#include "text/json_page.h"
#include "text/text_page.h"

namespace doctor {

/// The options of `show`, beside the page and its format.
struct ShowOptions {
  TextStyle style;
  std::optional<std::size_t> call;      ///< number of one call in its pipeline, from 1
  std::optional<std::size_t> step;      ///< number of one step, as the trace marks it
  std::optional<std::string> pipeline;  ///< id of the pipeline to show
  std::optional<std::size_t> top;       ///< number of calls or rows; 0: all
  std::optional<std::string> sort;      ///< key of the column that a table is sorted by
  bool by_type = false;                 ///< a row for each type of op, not for each op
  bool with_idle = false;               ///< with the time in which no op ran
  bool by_step = false;                 ///< a row for each step, not for each host
};

/// A format of a page. Errors: what was requested is not in the trace.
using PageFormat = FormatRow<Result<std::string>(const ShowOptions& options, const Analysis& analysis)>;

/// A page of `show`: an entry in the one table of them. The table of options says which options a page takes.
struct Page {
  std::string_view name;
  std::string_view summary;
  bool is_drawn = false;       ///< has pictures on a page for a browser; else its text is shown there
  bool needs_tf_data = true;   ///< has nothing to show for a trace without tf.data
  std::size_t screenful = 20;  ///< default number of calls or rows

  // The data that it needs beyond a diagnosis.
  bool needs_profile = false;
  bool needs_history = false;  ///< of the attributes
  void (*need_details)(const ShowOptions& options, AnalysisOptions& needed) = nullptr;

  /// The document that is printed as JSON and drawn for a browser. Errors: as of PageFormat.
  Result<OrderedJson> (*document)(const ShowOptions& options, const Analysis& analysis);

  /// The formats that are rendered in another way.
  std::initializer_list<PageFormat> others;

  std::vector<OutputFormat> formats() const;
  AnalysisOptions needs(const ShowOptions& options) const;

  /// Renders the page in one of its formats.
  Result<std::string> render(OutputFormat format, const ShowOptions& options, const Analysis& analysis) const;
};

/// All pages, in the order in which the help lists them.
std::span<const Page> pages();

std::vector<std::string_view> page_names();

/// The page of that name; null if there is none.
const Page* find_page(std::string_view name);

}  // namespace doctor
