#include "experiment/kinds/drawn_kind.h"

#include "report/change_drawing.h"
#include "report/dot.h"
#include "report/graph_difference.h"

namespace rewright::experiment {
namespace {

Status draw(const std::string& name, const std::string& title, const Graph& graph, const Graph& other, std::size_t most,
            Outcome& outcome) {
  auto svg = render_svg(changes_as_dot(graph, changed_nodes(graph, other), most));
  if (!svg && svg.error().code == ErrorCode::kNotFound) return {};
  if (!svg) return svg.error();
  const std::size_t start = svg->find("<svg");
  outcome.drawings.push_back({name, title, start == std::string::npos ? *svg : svg->substr(start)});
  return {};
}

}  // namespace

Status draw_both(const std::string& name, const Graph& before, const Graph& after, std::size_t most, Outcome& outcome) {
  REWRIGHT_CHECK(draw(name + "-before", name + ", before", before, after, most, outcome));
  return draw(name + "-after", name + ", after", after, before, most, outcome);
}

}  // namespace rewright::experiment
