// STORE/log.txt: one line per event, with the time.
#pragma once

#include <memory>
#include <string>

namespace rewright {

class Log {
 public:
  /// Appends. A log that cannot be written is no reason to stop: what it would say is lost.
  explicit Log(const std::string& file);
  ~Log();
  void write(const std::string& line);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rewright
