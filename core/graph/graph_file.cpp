#include "graph/graph_file.h"

#include <filesystem>
#include <fstream>

#include "base/files.h"
#include "graph/text_form.h"

namespace rewright {
namespace {

namespace fs = std::filesystem;

/// Bytes of a file in the graph's folder: a name without a path.
Result<std::vector<std::byte>> read_weight(const fs::path& folder, const std::string& file, std::uint64_t offset,
                                           std::uint64_t bytes) {
  if (file.empty() || fs::path(file).filename() != file)
    return make_error(ErrorCode::kIo, "weights lie in the graph's own folder, and '{}' is not the name of a file there",
                      file);
  const fs::path path = folder / file;
  std::error_code error;
  const std::uint64_t size = fs::is_regular_file(path, error) ? fs::file_size(path, error) : 0;
  if (error || !fs::is_regular_file(path))
    return make_error(ErrorCode::kIo, "there is no file '{}', where the weight's values lie", path.string());
  if (offset > size || bytes > size - offset)
    return make_error(ErrorCode::kIo,
                      "'{}' has {} bytes, and the weight takes {} from {} on: it was cut short or is of "
                      "another graph",
                      path.string(), size, bytes, offset);
  std::vector<std::byte> content(bytes);
  std::ifstream stream(path, std::ios::binary);
  stream.seekg(static_cast<std::streamoff>(offset));
  stream.read(reinterpret_cast<char*>(content.data()), static_cast<std::streamsize>(bytes));
  if (!stream) return make_error(ErrorCode::kIo, "'{}' cannot be read", path.string());
  return content;
}

}  // namespace

Result<Graph> read_graph_file(const std::string& path, const Registry& registry) {
  REWRIGHT_TRY(const std::string text, read_file(path));
  const fs::path folder = fs::path(path).parent_path();
  Result<Graph> graph =
      parse_graph(text, registry, [&](const std::string& file, std::uint64_t offset, std::uint64_t bytes) {
        return read_weight(folder, file, offset, bytes);
      });
  if (!graph) return make_error(graph.error().code, "'{}': {}", path, graph.error().message);
  return graph;
}

Result<std::string> write_graph_file(const std::string& path, const Graph& graph) {
  const std::string file = path + ".weights";
  WeightFile weights{fs::path(file).filename().string(), {}};
  const std::string text = to_text(graph, weights);
  if (!weights.bytes.empty()) REWRIGHT_CHECK(write_file(file, weights.bytes));
  REWRIGHT_CHECK(write_file(path, text));
  return weights.bytes.empty() ? std::string() : file;
}

}  // namespace rewright
