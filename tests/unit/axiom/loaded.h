// The operators and axiom files of this tree, loaded once for the tests of this room.
#pragma once

#include <rewright/axiom/axiom.h>

#include <filesystem>
#include <string>
#include <vector>

namespace rewright::test {

inline const Registry& operators() {
  static const Registry kRegistry = [] {
    Registry registry;
    if (auto status = registry.load_default(); !status) fail(status.error().message);
    return registry;
  }();
  return kRegistry;
}

inline std::string axiom_file(const std::string& name) { return std::string(REWRIGHT_SOURCE_DIR "/axioms/") + name; }

/// Every file of axioms/ but the rejected ones, sorted.
inline std::vector<std::string> axiom_files() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(REWRIGHT_SOURCE_DIR "/axioms")) {
    if (entry.path().extension() == ".smt2" && entry.path().filename() != "rejected.smt2")
      files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

inline AxiomSet load(const std::vector<std::string>& files) {
  auto set = load_axioms(files, operators());
  if (!set) fail(set.error().message);
  return *std::move(set);
}

inline const AxiomSet& axioms() {
  static const AxiomSet kAxioms = load(axiom_files());
  return kAxioms;
}

inline const Axiom& axiom(const std::string& name) {
  for (const Axiom& axiom : axioms().axioms()) {
    if (axiom.name == name) return axiom;
  }
  fail("no axiom " + name);
}

}  // namespace rewright::test
