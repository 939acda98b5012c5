// A process for code that may crash: what it does, crashes and exceptions included, is an answer or none.
#include "onnx/sandbox.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>

namespace rewright::model {
namespace {

std::string obey(const std::string& request) {
  if (request == "throw") throw std::runtime_error("told to");
  if (request == "throw a number") throw 7;
  if (request == "crash") std::abort();
  if (request == "leave") std::_Exit(0);
  return request + " " + request;
}

TEST(Sandbox, AnswersAfterWhatHasNone) {
  Sandbox sandbox(obey);
  EXPECT_EQ(sandbox.ask("twice"), "twice twice");
  for (const char* request : {"throw", "throw a number", "crash", "leave"}) {
    EXPECT_EQ(sandbox.ask(request), std::nullopt) << request;
    EXPECT_EQ(sandbox.ask("twice"), "twice twice") << "after " << request;
  }
  EXPECT_EQ(sandbox.ask(""), " ") << "an empty request has an answer";
}
TEST(Sandbox, IsNotAskedAgainAfterManyCrashes) {
  Sandbox sandbox(obey);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(sandbox.ask("throw"), std::nullopt);
  EXPECT_EQ(sandbox.ask("twice"), "twice twice") << "what threw is no crash";
  for (int i = 0; i < 16; ++i) EXPECT_EQ(sandbox.ask("crash"), std::nullopt);
  EXPECT_EQ(sandbox.ask("twice"), std::nullopt);
}

}  // namespace
}  // namespace rewright::model
