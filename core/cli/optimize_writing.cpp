#include "cli/optimize_writing.h"

#include <algorithm>
#include <utility>

#include "cli/output.h"
#include "cli/progress.h"

namespace rewright::cli {

void Writing::has_read(ModelFiles files) {
  const std::scoped_lock lock(mutex_);
  files_ = std::move(files);
}

void Writing::has_found(const OptimizeReport& report) {
  const std::scoped_lock lock(mutex_);
  gain_ = report.search.cost_before_us / std::max(report.search.cost_after_us, 1e-9);
}

Status Writing::write(const std::string& model) {
  const std::scoped_lock lock(mutex_);
  REWRIGHT_CHECK(write_model(*files_, model));
  is_written_ = true;
  return {};
}

void Writing::overtake() {
  mutex_.lock();
  bool is_original = !is_written_ && files_;
  if (is_original) {
    const Status status = write_model(*files_, files_->original);
    if (!status) {
      is_original = false;
      print_error(status.error(), settings_.json);
    }
  }
  say_what_was_written(is_original);
}

void Writing::say_what_was_written(bool is_original) const {
  if (settings_.json) {
    print_json({{"stopped_early", true},
                {"output", arguments_.output},
                {"written", is_written_ || is_original},
                {"original_written", is_original}});
  }
  if (is_written_) return note("stopped after the result was written", settings_.quiet);
  if (!is_original) return note(fmt::format("stopped; '{}' is not written", arguments_.output), settings_.quiet);
  note(fmt::format("stopped before a result was compared and measured, so '{}' is the original{}; --seconds ends the "
                   "search and leaves time to compare its best{}",
                   arguments_.output,
                   gain_ > 1 ? fmt::format(" and the best so far ({:.2f}x by the cost model) is lost", gain_) : "",
                   arguments_.checkpoint.empty() ? ", and --checkpoint FILE keeps what it did"
                                                 : "; the same command with --resume goes on"),
       settings_.quiet);
}

}  // namespace rewright::cli
