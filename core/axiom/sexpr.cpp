#include "axiom/sexpr.h"

#include <cctype>

namespace rewright {
namespace {

constexpr std::size_t kMaxDepth = 500;

bool is_symbol_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) ||
         std::string_view("~!@$%^&*_-+=<>.?/").find(c) != std::string_view::npos;
}

/// Reads without recursion: open lists stand on a stack.
class Reader {
 public:
  Reader(std::string_view text, std::string_view file) : text_(text), file_(file) {}

  Result<std::vector<SExpr>> read() {
    std::vector<SExpr> open(1);  // The first is the file itself.
    while (skip_blank(), at_ < text_.size()) {
      SExpr next;
      next.line = line_;
      next.column = column_;
      if (text_[at_] == '(') {
        if (open.size() > kMaxDepth)
          return error(fmt::format("a list nested deeper than {}", kMaxDepth), "something flatter");
        advance();
        open.push_back(std::move(next));
        continue;
      }
      if (text_[at_] == ')') {
        if (open.size() == 1) return error("')' that closes nothing", "an expression");
        advance();
        next = std::move(open.back());
        open.pop_back();
      } else {
        REWRIGHT_CHECK(read_atom(next));
      }
      open.back().items.push_back(std::move(next));
    }
    if (open.size() > 1)
      return make_error(ErrorCode::kParse, "{}:{}:{}: the list that opens here is not closed; expected ')'", file_,
                        open.back().line, open.back().column);
    return std::move(open.front().items);
  }

 private:
  Error error(std::string_view found, std::string_view wanted) const {
    return make_error(ErrorCode::kParse, "{}:{}:{}: found {}, expected {}", file_, line_, column_, found, wanted);
  }
  void advance() {
    if (text_[at_++] == '\n') {
      ++line_;
      column_ = 1;
    } else {
      ++column_;
    }
  }
  void skip_blank() {
    while (at_ < text_.size()) {
      if (text_[at_] == ';') {
        while (at_ < text_.size() && text_[at_] != '\n') advance();
      } else if (std::isspace(static_cast<unsigned char>(text_[at_]))) {
        advance();
      } else {
        return;
      }
    }
  }
  Status read_atom(SExpr& atom) {
    const char first = text_[at_];
    if (first == '"') return read_quoted(atom, '"', SExpr::Kind::kString);
    if (first == '|') return read_quoted(atom, '|', SExpr::Kind::kSymbol);
    if (first == ':') {
      advance();
      atom.kind = SExpr::Kind::kKeyword;
    } else if (std::isdigit(static_cast<unsigned char>(first))) {
      atom.kind = SExpr::Kind::kNumeral;
    } else {
      atom.kind = SExpr::Kind::kSymbol;
    }
    while (at_ < text_.size() && is_symbol_character(text_[at_])) {
      atom.text += text_[at_];
      advance();
    }
    if (atom.text.empty()) return error(fmt::format("'{}'", first), "a symbol, a number, a string or a list");
    if (atom.kind != SExpr::Kind::kNumeral) return {};
    const std::size_t dot = atom.text.find('.');
    if (dot != std::string::npos) atom.kind = SExpr::Kind::kDecimal;
    for (std::size_t i = 0; i < atom.text.size(); ++i) {
      if (i != dot && !std::isdigit(static_cast<unsigned char>(atom.text[i])))
        return make_error(ErrorCode::kParse, "{}:{}:{}: found '{}', expected a number (symbols start with no digit)",
                          file_, atom.line, atom.column, atom.text);
    }
    return {};
  }
  Status read_quoted(SExpr& atom, char quote, SExpr::Kind kind) {
    atom.kind = kind;
    advance();
    while (at_ < text_.size()) {
      const char c = text_[at_];
      advance();
      if (c != quote) {
        atom.text += c;
      } else if (quote == '"' && at_ < text_.size() && text_[at_] == '"') {
        atom.text += c;
        advance();
      } else {
        return {};
      }
    }
    return make_error(ErrorCode::kParse, "{}:{}:{}: what is quoted here does not end; expected {}", file_, atom.line,
                      atom.column, quote);
  }

  std::string_view text_;
  std::string_view file_;
  std::size_t at_ = 0;
  int line_ = 1;
  int column_ = 1;
};

}  // namespace

Result<std::vector<SExpr>> parse_sexprs(std::string_view text, std::string_view file) {
  return Reader(text, file).read();
}

}  // namespace rewright
