#include "schedule/schedule_json.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "base/spelling.h"

namespace rewright::schedule {
namespace {

using Json = nlohmann::ordered_json;

/// The words of a step by name: first some fields, then those of a list.
struct StepForm {
  std::string transform;
  std::vector<std::string> fields;
  std::string list = {};
};

const std::vector<StepForm>& step_forms() {
  static const std::vector<StepForm> kForms = {{"split", {"loop", "factor"}},
                                               {"fuse", {"outer", "inner"}},
                                               {"reorder", {}, "loops"},
                                               {"distribute", {"loop"}},
                                               {"serial", {"loop"}},
                                               {"parallelise", {"loop"}},
                                               {"vectorise", {"loop"}},
                                               {"unroll", {"loop"}},
                                               {"cache", {"buffer", "loop", "name"}},
                                               {"cache-write", {"buffer", "loop", "name"}},
                                               {"compute-at", {"buffer", "loop", "name"}},
                                               {"rfactor", {"loop", "name"}},
                                               {"inline", {"buffer"}},
                                               {"tensorise", {"loop", "tile"}},
                                               {"pack", {"buffer", "name"}, "parts"}};
  return kForms;
}

const StepForm* form_of(const std::string& transform) {
  const auto form = std::ranges::find(step_forms(), transform, &StepForm::transform);
  return form == step_forms().end() ? nullptr : &*form;
}

/// A number where the word is one.
Json value_of(const std::string& word) {
  const bool is_number =
      !word.empty() && word.size() < 19 && std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
  return is_number ? Json(std::stoll(word)) : Json(word);
}

Json json_of(const StepText& step) {
  std::span<const std::string> words(step.words);
  const StepForm& form = *form_of(words[0]);
  Json json = {{"transform", words[0]}};
  words = words.subspan(1);
  for (const std::string& field : form.fields) {
    json[field] = value_of(words[0]);
    words = words.subspan(1);
  }
  std::string conflict;
  if (words.size() >= 2 && words[words.size() - 2] == "or") {
    conflict = words.back();
    words = words.first(words.size() - 2);
  }
  for (const std::string& word : words) {
    if (word.starts_with("tail=")) {
      json["tail"] = word.substr(5);
    } else if (word == "pad") {
      json["pad"] = true;
    } else {
      json[form.list].push_back(word);
    }
  }
  if (!conflict.empty()) json["or"] = conflict;
  if (!step.origin.empty()) json["from"] = step.origin;
  return json;
}

/// What JSON says of a value, as a word.
std::string word_of(const Json& json) { return json.is_string() ? json.get<std::string>() : json.dump(); }

Error wrong(std::size_t step, std::string_view what) {
  return make_error(ErrorCode::kParse, "step {}: {}", step, what);
}

Result<StepText> step_of(const Json& json, std::size_t number) {
  if (!json.is_object() || !json.contains("transform") || !json["transform"].is_string())
    return wrong(number, "expected an object with a transform");
  StepText step{{json["transform"].get<std::string>()}, static_cast<int>(number)};
  const StepForm* form = form_of(step.words[0]);
  if (form == nullptr) return step;  // What reads words says what there is.
  std::vector<std::string> known = {"transform", "or", "from"};
  for (const std::string& field : form->fields) {
    if (!json.contains(field)) return wrong(number, fmt::format("{} has no '{}'", step.words[0], field));
    step.words.push_back(word_of(json[field]));
    known.push_back(field);
  }
  if (!form->list.empty()) known.push_back(form->list);
  if (form->transform == "split") known.emplace_back("tail");
  if (form->transform == "pack") known.emplace_back("pad");
  for (const auto& [name, value] : json.items()) {
    if (std::ranges::find(known, name) != known.end()) continue;
    const auto close = nearest(name, known);
    return wrong(number,
                 fmt::format("{} has no member '{}'; {} {}", step.words[0], name, close ? "did you mean" : "it has",
                             close ? *close : fmt::format("{}", fmt::join(known, ", "))));
  }
  if (json.contains(form->list))
    for (const Json& word : json[form->list]) step.words.push_back(word_of(word));
  if (json.contains("tail")) step.words.push_back(fmt::format("tail={}", word_of(json["tail"])));
  if (json.contains("pad") && json["pad"] == true) step.words.emplace_back("pad");
  if (json.contains("or")) {
    step.words.emplace_back("or");
    step.words.push_back(word_of(json["or"]));
  }
  if (json.contains("from")) step.origin = word_of(json["from"]);
  return step;
}

Status read_knob(Space& space, const Json& json) {
  const auto member = [&](const char* name) { return json.is_object() && json.contains(name); };
  if (!member("name") || member("in") == member("orders"))
    return make_error(ErrorCode::kParse, "knobs: expected an object with a name, and in or orders, found {}",
                      json.dump());
  std::vector<std::string> choices;
  for (const Json& choice : json[member("in") ? "in" : "orders"]) choices.push_back(word_of(choice));
  const std::string list = fmt::format("{}", fmt::join(choices, ", "));
  const std::string text = member("in") ? fmt::format("{} in {{{}}}", word_of(json["name"]), list)
                                        : fmt::format("{} in orders({})", word_of(json["name"]), list);
  return add_knob(space, text, 1);
}

Result<Space> space_of(const Json& json) {
  Space space;
  for (const auto& [name, value] : json.items()) {
    const std::vector<std::string> known = {"knobs", "where", "with", "steps"};
    if (std::ranges::find(known, name) == known.end())
      return make_error(ErrorCode::kParse, "a schedule has no member '{}'; it has {}", name, fmt::join(known, ", "));
  }
  if (!json.contains("steps") || !json["steps"].is_array())
    return make_error(ErrorCode::kParse, "a schedule has a list of steps");
  for (const Json& knob : json.value("knobs", Json::array())) REWRIGHT_CHECK(read_knob(space, knob));
  if (json.contains("where")) REWRIGHT_CHECK(add_constraint(space, word_of(json["where"]), 1));
  const Json given = json.value("with", Json::object());
  for (const auto& [name, choice] : given.items())
    REWRIGHT_CHECK(give(space, fmt::format("{}={}", name, word_of(choice))));
  for (const Json& step : json["steps"]) {
    REWRIGHT_TRY(StepText words, step_of(step, space.steps.size() + 1));
    space.steps.push_back(std::move(words));
  }
  REWRIGHT_CHECK(check_steps(space));
  return space;
}

}  // namespace

Json to_json(const Space& space) {
  Json json = Json::object();
  for (const Knob& knob : space.knobs) {
    Json each = {{"name", knob.name}};
    if (knob.loops.empty()) each["in"] = knob.numbers;
    for (const LoopName& loop : knob.loops) each["orders"].push_back(to_string(loop));
    json["knobs"].push_back(std::move(each));
  }
  if (!space.constraints.empty()) json["where"] = constraints_text(space);
  for (std::size_t k = 0; k < space.knobs.size(); ++k)
    if (space.given[k])
      json["with"][space.knobs[k].name] = value_of(in_one_word(choice_text(space.knobs[k], *space.given[k])));
  json["steps"] = Json::array();
  for (const StepText& step : space.steps) json["steps"].push_back(json_of(step));
  return json;
}

Result<Space> read_space(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || text[first] != '{') return parse_space(text);
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return make_error(ErrorCode::kParse, "it begins as JSON, and is none");
  return space_of(json);
}

}  // namespace rewright::schedule
