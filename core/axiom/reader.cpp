// Reads axiom files. The grammar and the meaning of names are in axioms/README.md.
#include <rewright/axiom/axiom.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "axiom/attribute_reader.h"
#include "axiom/conventions.h"
#include "axiom/reader_scope.h"
#include "axiom/term_reader.h"

namespace rewright {
namespace {

/// (assert (! (forall (...) (= left right)) :named n ...))
Result<Axiom> read_assertion(const Scope& scope, const SExpr& e) {
  if (e.items.size() != 2 || !e.items[1].is_list() || e.items[1].items.size() < 2 ||
      !e.items[1].items[0].is_symbol("!"))
    return error_at(scope, e, "expected (assert (! (forall (...) (= left right)) :named NAME ...))");
  const SExpr& annotated = e.items[1];
  const SExpr* equation = &annotated.items[1];
  Axiom axiom;
  axiom.file = scope.file;
  axiom.line = e.line;
  AxiomBuilder builder(scope, axiom);
  if (equation->is_list() && equation->items.size() == 3 && equation->items[0].is_symbol("forall")) {
    REWRIGHT_CHECK(builder.add_variables(equation->items[1]));
    equation = &equation->items[2];
  }
  if (!equation->is_list() || equation->items.size() != 3 || !equation->items[0].is_symbol("="))
    return error_at(scope, *equation, "found {}, expected (= left right)", describe(*equation));
  REWRIGHT_TRY(axiom.left, builder.term(equation->items[1]));
  REWRIGHT_TRY(axiom.right, builder.term(equation->items[2]));
  REWRIGHT_CHECK(read_attributes(scope, builder, std::span(annotated.items).subspan(2), axiom));
  REWRIGHT_CHECK(check_attributes(scope, e, axiom));
  return axiom;
}

Status read_declaration(Scope& scope, const SExpr& e) {
  const std::string& command = e.items[0].text;
  if (e.items.size() < 2 || (e.items[1].kind != SExpr::Kind::kSymbol && command != "set-info"))
    return error_at(scope, e, "({} ...) names nothing", command);
  if (command == "declare-fun" || command == "declare-const") {
    scope.functions.insert(e.items[1].text);
  } else if (command == "declare-sort") {
    if (e.items[1].text != "Tensor" && e.items[1].text != "Sizes")
      return error_at(scope, e, "found the sort {}, expected Tensor or Sizes", describe(e.items[1]));
  } else if (command == "define-fun") {
    const bool constant = e.items.size() == 5 && e.items[2].is_list() && e.items[2].items.empty() &&
                          e.items[3].is_symbol("Int") && e.items[4].kind == SExpr::Kind::kNumeral;
    const auto value = constant ? to_integer(e.items[4].text) : std::nullopt;
    if (!value) return error_at(scope, e, "expected a named number, as in (define-fun padding.same () Int 0)");
    scope.constants[e.items[1].text] = *value;
  }
  return {};
}

Status read_info(const Scope& scope, const SExpr& e) {
  if (e.items.size() != 3 || e.items[1].kind != SExpr::Kind::kKeyword)
    return error_at(scope, e, "expected (set-info :KEY VALUE)");
  if (!is_convention(e.items[1].text)) return {};
  if (auto kept = check_convention(e.items[1].text, e.items[2].text, scope.registry); !kept)
    return error_at(scope, e, "{}", kept.error().message);
  return {};
}

}  // namespace

Status AxiomSet::add(std::string_view text, std::string file, const Registry& registry) {
  REWRIGHT_TRY(const auto expressions, parse_sexprs(text, file));
  Scope scope{file, registry, {}, {}};
  std::vector<Axiom> read;
  for (const SExpr& e : expressions) {
    const std::string command = e.is_list() && !e.items.empty() ? e.items[0].text : "";
    if (command == "set-info") {
      REWRIGHT_CHECK(read_info(scope, e));
    } else if (command.starts_with("declare-") || command == "define-fun") {
      REWRIGHT_CHECK(read_declaration(scope, e));
    } else if (command == "assert") {
      REWRIGHT_TRY(Axiom axiom, read_assertion(scope, e));
      const auto same_name = [&](const Axiom& other) { return other.name == axiom.name; };
      if (std::ranges::any_of(axioms_, same_name) || std::ranges::any_of(read, same_name))
        return error_at(scope, e, "there is an axiom {} already; names are unique", axiom.name);
      read.push_back(std::move(axiom));
    } else if (command != "set-logic" && command != "check-sat" && command != "exit") {
      return error_at(scope, e,
                      "found {}, expected set-logic, set-info, declare-sort, declare-fun, define-fun or assert",
                      describe(e));
    }
  }
  axioms_.insert(axioms_.end(), std::make_move_iterator(read.begin()), std::make_move_iterator(read.end()));
  files_.push_back(std::move(file));
  for (const char c : text) digest_ = (digest_ ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return {};
}

AxiomSet AxiomSet::filtered(const std::function<bool(const Axiom&)>& keep) const {
  AxiomSet set;
  set.files_ = files_;
  set.digest_ = digest_;
  for (const Axiom& axiom : axioms_) {
    if (!keep(axiom)) continue;
    set.axioms_.push_back(axiom);
    for (const char c : axiom.name + " ") set.digest_ = (set.digest_ ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return set;
}

std::string AxiomSet::digest() const { return fmt::format("{:016x}", digest_); }

Result<AxiomSet> load_axioms(std::span<const std::string> files, const Registry& registry) {
  AxiomSet set;
  for (const std::string& file : files) {
    std::ifstream stream(file, std::ios::binary);
    std::ostringstream text;
    if (!stream || !(text << stream.rdbuf()))
      return make_error(ErrorCode::kIo, "{}: the axiom file cannot be read, or is empty", file);
    REWRIGHT_CHECK(set.add(text.str(), file, registry));
  }
  return set;
}

}  // namespace rewright
