// Pages that the program writes as a reader has them: made by one command each, looked at by a browser without a
// network.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

/// A folder that goes with the program.
const fs::path& folder() {
  struct Made {
    fs::path path;
    Made() {
      std::string pattern = (fs::temp_directory_path() / "rewright-pages-XXXXXX").string();
      path = mkdtemp(pattern.data());
    }
    ~Made() { fs::remove_all(path); }
  };
  static const Made made;
  return made.path;
}

std::string read(const fs::path& name) {
  std::ostringstream text;
  text << std::ifstream(folder() / name, std::ios::binary).rdbuf();
  return text.str();
}

int shell(const std::string& command) {
  const int status = std::system(("cd '" + folder().string() + "' && { " + command + "; } >out.txt 2>err.txt").c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

struct Made {
  const char* name;
  const char* command;  ///< Writes page.html.
  int exit = 0;
};

/// The DOM that a browser makes of the page with a script at its end; `hash`: "" or "#rewrite-2".
std::string seen(const std::string& script, const std::string& hash = "", const std::string& window = "1280,900") {
  std::string page = read("page.html");
  page.insert(page.rfind("</body>"), "<script>" + script + "</script>");
  std::ofstream(folder() / "seen.html") << page;
  EXPECT_EQ(shell("HOME=. timeout 60 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage "
                  "--virtual-time-budget=3000 --window-size=" +
                  window + " --dump-dom 'file://" + (folder() / "seen.html").string() + hash + "'"),
            0)
      << "chromium (scripts/install-dependencies --tests): " << read("err.txt");
  return read("out.txt");
}

/// What the script has put into the title.
std::string title(const std::string& script, const std::string& hash = "") {
  const std::string dom = seen("document.title = 'said:' + (() => {" + script + "})()", hash);
  const std::size_t at = dom.find("<title>said:");
  if (at == std::string::npos) return "no title";
  return dom.substr(at + 12, dom.find("</title>", at) - at - 12);
}

class Pages : public testing::TestWithParam<Made> {
 protected:
  void SetUp() override {
    ASSERT_EQ(shell(std::string("B='" REWRIGHT_BUILD_DIR "' S='" REWRIGHT_SOURCE_DIR "'; PATH=$B/bin:$PATH; ") +
                    GetParam().command),
              GetParam().exit)
        << read("err.txt");
  }
};

TEST_P(Pages, StandAloneWithOneHeadingAndLandmarks) {
  const std::string page = read("page.html");
  for (const char* part : {"href=\"http", "src=\"", "url(", "@import"}) EXPECT_THAT(page, Not(HasSubstr(part)));
  for (const char* part :
       {"<html lang=\"en\">", "name=\"viewport\"", "<main id=\"main\">", "href=\"#main\"", "<footer>"})
    EXPECT_THAT(page, HasSubstr(part));
  EXPECT_EQ(title("const headings = document.querySelectorAll('h1').length;"
                  "const ids = [...document.querySelectorAll('[id]')].map((e) => e.id);"
                  "const unnamed = [...document.querySelectorAll('svg[role=img]')].filter((e) => "
                  "!e.getAttribute('aria-label'));"
                  "let last = 1, jumps = 0; for (const h of document.querySelectorAll('h1, h2, h3, h4')) {"
                  "const level = Number(h.tagName[1]); jumps += level > last + 1; last = level; }"
                  "return [headings, ids.length - new Set(ids).size, unnamed.length, jumps].join()"),
            "1,0,0,0")
      << "headings of the page; ids that are there twice; drawings without a name; levels of headings that are left "
         "out";
}

TEST_P(Pages, FitADeskAndAPhone) {
  // The page in a frame tells the page around it how wide it is.
  const std::string tell =
      "addEventListener('load', () => parent.postMessage(`${document.documentElement.scrollWidth - innerWidth}`, '*'))";
  std::string page = read("page.html");
  page.insert(page.rfind("</body>"), "<script>" + tell + "</script>");
  std::ofstream(folder() / "inner.html") << page;
  for (const int width : {1280, 390}) {
    std::ofstream(folder() / "page.html")
        << "<!doctype html><title>none</title><body><iframe src=inner.html width=" << width
        << " height=900></iframe></body>";
    const std::string dom =
        seen("addEventListener('message', (event) => { document.title = `wide:${event.data}`; })", "", "1400,1000");
    const std::size_t at = dom.find("<title>wide:");
    ASSERT_NE(at, std::string::npos) << width;
    EXPECT_LE(std::atoi(dom.c_str() + at + 12), 0) << "too wide at " << width;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Golden, Pages,
    testing::Values(
        Made{"optimisation",
             "rewright optimize $B/models/quickstart.onnx -o out.onnx --candidates 2000 --no-measure --no-record "
             "--report . "
             "&& mv index.html page.html"},
        Made{
            "schedule",
            "rewright schedule explain $S/experiments/schedules/product.loop $S/experiments/schedules/product.schedule "
            "--size M=64 --size N=64 --size K=64 --size V=16 --with ti=4 --with tj=16 --code c11 --report page.html"},
        Made{"kernel", "rewright tune kernel '(x:32x32, w:32x32) relu(matmul(x, w))' --trials 2 --report page.html"},
        Made{"compiled",
             "{ rewright compile $S/tests/models/faults/A01_matmul_add_clip.onnx -o c --force --measure --report "
             "page.html "
             "|| [ $? = 1 ]; }"},
        Made{"learned",
             "rewright learn eval $S/experiments/learn/onednn.kernels --predictor roofline --base none --split program "
             "--report page.html"},
        Made{"theorems",
             "rewright axioms prove $S/axioms/linear_algebra.smt2 $S/axioms/convolution.smt2 --only matmul-associates "
             "conv-over-data-ewadd --certify --report page.html"}),
    [](const auto& info) { return std::string(info.param.name); });

class OptimizationPage : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(folder() / "optimised.html")) {
      ASSERT_EQ(
          shell("'" REWRIGHT_BUILD_DIR "/bin/rewright' optimize '" REWRIGHT_BUILD_DIR
                "/models/quickstart.onnx' -o out.onnx --candidates 2000 --no-measure --no-record --report optimised"),
          0)
          << read("err.txt");
      fs::copy_file(folder() / "optimised/index.html", folder() / "optimised.html");
    }
    fs::copy_file(folder() / "optimised.html", folder() / "page.html", fs::copy_options::overwrite_existing);
  }
};

constexpr const char* kShown =
    "const shown = () => [...document.querySelectorAll('.step')].filter((s) => !s.hidden).map((s) => s.id).join();";

TEST_F(OptimizationPage, ShowsOneRewriteAtATimeAndStepsByButtonsSliderAndLink) {
  EXPECT_EQ(title(std::string(kShown) + "return shown()"), "rewrite-1");
  EXPECT_EQ(title(std::string(kShown) + "return shown()", "#rewrite-3"), "rewrite-3");
  EXPECT_EQ(
      title(std::string(kShown) +
            "const [back, next] = document.querySelectorAll('.turn button'), slider = document.querySelector('.steps "
            "input');"
            "const seen = [back.disabled]; next.click(); next.click(); seen.push(shown()); back.click(); "
            "seen.push(shown());"
            "slider.value = slider.max; slider.dispatchEvent(new Event('input')); "
            "seen.push(shown() === `rewrite-${slider.max}`, next.disabled, slider.getAttribute('aria-valuetext') === "
            "`${slider.max} of ${slider.max}`); return seen.join()"),
      "true,rewrite-3,rewrite-2,true,true,true");
}

TEST_F(OptimizationPage, FadesFromBeforeToAfter) {
  EXPECT_EQ(
      title(
          "const fade = document.querySelectorAll('.controls input')[1], seen = [];"
          "for (const value of [0, 50, 100]) { fade.value = value; fade.dispatchEvent(new Event('input'));"
          "seen.push(['.gone', '.new'].map((c) => document.querySelector(`.step svg ${c}`).style.opacity).join('/')); }"
          "return seen.join()"),
      "1/0,1/1,0/1");
}

TEST_F(OptimizationPage, DrawingsFitTheirFrameAndZoomByKeys) {
  EXPECT_EQ(
      title(
          "const inside = [...document.querySelectorAll('.pane')].filter((p) => p.clientWidth > 0).every((pane) => {"
          "const a = pane.getBoundingClientRect(), b = pane.querySelector('svg').getBoundingClientRect();"
          "return b.width <= a.width + 1 && b.height <= a.height + 1 && b.left >= a.left - 1 && b.top >= a.top - 1; });"
          "const pane = document.querySelector('.pane'), svg = pane.querySelector('svg');"
          "const width = () => svg.getBoundingClientRect().width, first = width();"
          "const press = (key) => pane.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));"
          "press('+'); const larger = width() > first; press('0');"
          "return [inside, larger, Math.abs(width() - first) < 1, pane.tabIndex].join()"),
      "true,true,true,0");
}

TEST_F(OptimizationPage, WithoutAScriptShowsAllRewrites) {
  const std::string page = read("page.html");
  EXPECT_THAT(page, Not(HasSubstr("hidden>")));
  EXPECT_THAT(page, HasSubstr("id=\"rewrite-2\""));
}

}  // namespace
