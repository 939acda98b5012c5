#include "base/logging.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/basic_file_sink.h>

namespace rewright {

struct Log::State {
  spdlog::logger logger;
};

Log::Log(const std::string& file) {
  try {
    auto sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(file);
    state_.reset(new State{spdlog::logger("campaign", std::move(sink))});
    state_->logger.set_pattern("%Y-%m-%d %H:%M:%S %v");
    state_->logger.set_error_handler([](const std::string&) {});
  } catch (const spdlog::spdlog_ex&) {
    state_.reset();
  }
}

Log::~Log() = default;

void Log::write(const std::string& line) {
  if (!state_) return;
  state_->logger.info("{}", line);
  state_->logger.flush();
}

}  // namespace rewright
