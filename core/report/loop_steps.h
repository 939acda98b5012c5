// A schedule, step by step: the loops before and after each transform side by side, lines that changed marked.
#pragma once

#include <rewright/base/visibility.h>

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rewright {

struct LoopStep {
  std::string transform;  ///< As text.
  std::string origin;     ///< Where it was taken from; may be empty.
  std::string needs;      ///< What it needs in general.
  std::string found;      ///< What it met; may be empty.
  std::string instead;    ///< What was applied in its place; may be empty.
  bool is_applied = true;
  std::string changes;        ///< "2 to 3 loops, 1 store".
  std::string before, after;  ///< Loops, a line a statement.
};

/// A section of a page; `title` is HTML.
[[nodiscard]] REWRIGHT_API std::string loop_steps_html(std::string_view id, std::string_view title,
                                                       std::span<const LoopStep> steps);

struct SchedulePage {
  std::string title;
  std::string lede;
  std::string schedule;
  std::vector<LoopStep> steps;
  std::string loops;                                               ///< Before all steps.
  std::vector<std::pair<std::string, std::string>> programs = {};  ///< What, and code.
};
/// A page that needs no other file.
[[nodiscard]] REWRIGHT_API std::string schedule_html(const SchedulePage& page);

/// Both texts by line, as HTML: lines that only one of them has are marked.
[[nodiscard]] REWRIGHT_API std::pair<std::string, std::string> changed_lines_html(std::string_view before,
                                                                                  std::string_view after);

}  // namespace rewright
