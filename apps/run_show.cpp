#include "analysis.h"
#include "commands.h"
#include "pages.h"
#include "process/exit_code.h"
#include "report/selection.h"

namespace doctor {

int run_show(const Options& options) {
  const Page& page = *find_page(options.page);
  // Numbers are shown, nothing is judged: findings do not count here.
  return run_page(
      options, page.needs(options),
      [&](const Analysis& analysis, OutputFormat) { return page.render(options, analysis); },
      [&](const Analysis& analysis) {
        const bool has_subject =
            page.needs_tf_data ? shows_tf_data(analysis.measurements) : event_count(analysis.measurements) > 0;
        return has_subject ? kExitClean : kExitNothing;
      });
}

}  // namespace doctor
