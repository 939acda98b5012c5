// How --help looks: descriptions wrapped to the terminal, or to 120 columns where there is none.
#pragma once

#include <CLI/CLI.hpp>

#include <cstddef>
#include <string>

namespace rewright::cli {

/// Lines of at most `width` bytes, broken at spaces; a longer word stays whole.
[[nodiscard]] std::string wrapped(const std::string& text, std::size_t width);

class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option_desc(const CLI::Option* option) const override;
};

}  // namespace rewright::cli
