// Steps of schedules as words, before and after what they say is known.
#pragma once

#include <rewright/schedule/transform.h>

#include <string>
#include <string_view>
#include <vector>

namespace rewright::schedule {

/// The origin of steps that nothing was said of, where others stand before them.
inline constexpr const char* kHere = "here";

struct StepText {
  std::vector<std::string> words;
  int line = 0;
  std::string origin = {};  ///< What "from" says above it; empty: nothing does.
  friend bool operator==(const StepText& a, const StepText& b) { return a.words == b.words; }
};

/// The steps of a text, a line each or with ";" between, without comments.
[[nodiscard]] std::vector<StepText> step_texts(std::string_view text);
/// Errors: kParse, "LINE: what is wrong".
[[nodiscard]] Result<Step> parse_step(StepText text);
/// One step, without the end of the line.
[[nodiscard]] REWRIGHT_API std::string to_string(const Step& step);

}  // namespace rewright::schedule
