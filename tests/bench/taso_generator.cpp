// The substitutions that TASO's own generator finds, as a rule file of its format, to be held against ours
// (RESULTS-enumeration.md).
//
//   rewright_taso_generator [--operators N] -o FILE.pb
#include "support/taso_generator.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <fstream>

int main(int argc, char** argv) {
  std::size_t operators = 3;
  std::string file;
  CLI::App app{"TASO's generator, restated"};
  app.add_option("--operators", operators)->check(CLI::Range(1, 3));
  app.add_option("-o", file, "rule file to write")->required();
  CLI11_PARSE(app, argc, argv);
  const rewright::test::TasoSubstitutions substitutions = rewright::test::generate_as_taso(operators);
  std::printf("%lu sequences, %zu substitutions, %zu after taking out special cases\n", substitutions.sequences,
              substitutions.found, substitutions.kept.size());
  std::ofstream out(file, std::ios::binary);
  out << rewright::testing::taso::bytes(substitutions.kept);
  if (out.flush()) return 0;
  std::fprintf(stderr, "%s: could not be written\n", file.c_str());
  return 2;
}
