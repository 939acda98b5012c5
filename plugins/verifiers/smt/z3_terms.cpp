#include "z3_terms.h"

#include <algorithm>
#include <cctype>
#include <stdexcept>

namespace smt_verifier {
namespace {

bool is_space(char c) { return c == ' ' || c == '\n'; }
[[noreturn]] void fail(std::string_view what) { throw std::runtime_error("no text for Z3: " + std::string(what)); }

}  // namespace

TermReader::TermReader(z3::context& context) : context_(context) {
  sorts_.emplace("Int", context.int_sort());
  sorts_.emplace("Bool", context.bool_sort());
}

std::vector<z3::expr> TermReader::read(std::string_view text) {
  rest_ = text;
  std::vector<z3::expr> asserted;
  for (std::string_view token = next(); !token.empty(); token = next()) {
    if (token != "(") fail(token);
    const std::string_view command = next();
    if (command == "assert") {
      asserted.push_back(term());
    } else if (command == "declare-fun") {
      const std::string symbol(next());
      const std::vector<z3::sort> domain = sorts();
      z3::sort_vector operands(context_);
      for (const z3::sort& one : domain) operands.push_back(one);
      functions_.emplace(symbol, context_.function(symbol.c_str(), operands, sort()));
    } else if (command == "define-fun") {
      const std::string symbol(next());
      if (!sorts().empty()) fail(symbol);
      (void)sort();
      defined_.insert_or_assign(symbol, term());
    } else if (command == "declare-sort") {
      const std::string symbol(next());
      sorts_.emplace(symbol, context_.uninterpreted_sort(symbol.c_str()));
      expect("0");
    } else {
      fail(command);
    }
    expect(")");
  }
  return asserted;
}

std::string_view TermReader::next() {
  std::size_t at = 0;
  while (at < rest_.size() && (is_space(rest_[at]) || rest_[at] == ';')) {
    at = rest_[at] == ';' ? std::min(rest_.find('\n', at), rest_.size()) : at + 1;
  }
  std::size_t end = at;
  if (at < rest_.size() && (rest_[at] == '(' || rest_[at] == ')')) {
    ++end;
  } else {
    while (end < rest_.size() && !is_space(rest_[end]) && rest_[end] != '(' && rest_[end] != ')') ++end;
  }
  const std::string_view token = rest_.substr(at, end - at);
  rest_.remove_prefix(end);
  return token;
}

void TermReader::expect(std::string_view token) {
  if (const std::string_view found = next(); found != token)
    fail(std::string(found) + " in place of " + std::string(token));
}

bool TermReader::closes() {
  const std::string_view before = rest_;
  if (next() == ")") return true;
  rest_ = before;
  return false;
}

z3::sort TermReader::sort() {
  const std::string_view token = next();
  const auto known = sorts_.find(token);
  if (known == sorts_.end()) fail(token);
  return known->second;
}

std::vector<z3::sort> TermReader::sorts() {
  std::vector<z3::sort> list;
  expect("(");
  while (!closes()) list.push_back(sort());
  return list;
}

z3::expr TermReader::wrap(Z3_ast made) {
  context_.check_error();
  return {context_, made};
}

z3::expr TermReader::term() { return term_from(next()); }

z3::expr TermReader::term_from(std::string_view token) {
  if (token != "(") return name(token);
  const std::string_view head = next();
  return head == "forall" ? quantifier() : application(head);
}

z3::expr TermReader::name(std::string_view text) {
  const auto bound = std::ranges::find(bound_, text, &std::pair<std::string_view, z3::expr>::first);
  if (bound != bound_.end()) return bound->second;
  if (const auto known = defined_.find(text); known != defined_.end()) return known->second;
  if (const auto known = functions_.find(text); known != functions_.end()) return known->second();
  if (text == "true") return context_.bool_val(true);
  if (text.empty() || !std::isdigit(static_cast<unsigned char>(text[0]))) fail(text);
  return context_.int_val(std::string(text).c_str());
}

/// After "(forall". Quantifiers are not nested.
z3::expr TermReader::quantifier() {
  std::vector<Z3_app> variables;
  expect("(");
  while (!closes()) {
    expect("(");
    const std::string_view variable = next();
    bound_.emplace_back(variable, context_.constant(std::string(variable).c_str(), sort()));
    variables.push_back(static_cast<Z3_app>(bound_.back().second));
    expect(")");
  }
  const auto close = [&](const z3::expr& body, unsigned patterns, const Z3_pattern* pattern) {
    z3::expr made = wrap(Z3_mk_forall_const(context_, 0, static_cast<unsigned>(variables.size()), variables.data(),
                                            patterns, pattern, body));
    bound_.clear();
    expect(")");
    return made;
  };
  const std::string_view before = rest_;
  if (next() != "(" || next() != "!") {
    rest_ = before;
    return close(term(), 0, nullptr);
  }
  const z3::expr body = term();
  expect(":pattern");
  expect("(");
  std::vector<z3::expr> terms;
  while (!closes()) terms.push_back(term());
  expect(")");
  std::vector<Z3_ast> parts(terms.begin(), terms.end());
  const Z3_pattern made = Z3_mk_pattern(context_, static_cast<unsigned>(parts.size()), parts.data());
  context_.check_error();
  const z3::ast kept(context_, reinterpret_cast<Z3_ast>(made));
  return close(body, 1, &made);
}

/// After "(head".
z3::expr TermReader::application(std::string_view head) {
  std::vector<z3::expr> operands;
  while (!closes()) operands.push_back(term());
  std::vector<Z3_ast> in(operands.begin(), operands.end());
  const auto count = static_cast<unsigned>(in.size());
  if (const auto known = functions_.find(head); known != functions_.end())
    return wrap(Z3_mk_app(context_, known->second, count, in.data()));
  using OfMany = Z3_ast (*)(Z3_context, unsigned, const Z3_ast*);
  using OfTwo = Z3_ast (*)(Z3_context, Z3_ast, Z3_ast);
  static const std::unordered_map<std::string_view, OfMany> kOfMany = {
      {"and", Z3_mk_and}, {"+", Z3_mk_add}, {"*", Z3_mk_mul}, {"-", Z3_mk_sub}};
  static const std::unordered_map<std::string_view, OfTwo> kOfTwo = {
      {"=", Z3_mk_eq}, {"=>", Z3_mk_implies}, {">=", Z3_mk_ge}, {"div", Z3_mk_div}, {"mod", Z3_mk_mod}};
  if (count == 1 && head == "not") return wrap(Z3_mk_not(context_, in[0]));
  if (count == 1 && head == "-") return wrap(Z3_mk_unary_minus(context_, in[0]));
  if (const auto known = kOfTwo.find(head); known != kOfTwo.end() && count == 2)
    return wrap(known->second(context_, in[0], in[1]));
  const auto known = kOfMany.find(head);
  if (known == kOfMany.end() || count == 0) fail(head);
  return wrap(known->second(context_, count, in.data()));
}

}  // namespace smt_verifier
