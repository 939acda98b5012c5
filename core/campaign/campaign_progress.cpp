#include "campaign/campaign_progress.h"

#include <nlohmann/json.hpp>

#include <fstream>

#include "base/files.h"

namespace rewright {
namespace {

using Json = nlohmann::ordered_json;
using Seconds = std::chrono::duration<double>;

constexpr Seconds kBetweenWrites{1.0};
constexpr double kSecondsBetweenFiles = 0.2;

std::string to_json(const CampaignProgress& progress) {
  return Json{{"phase", progress.phase},
              {"unit", progress.unit},
              {"level", progress.level},
              {"done", progress.done},
              {"fraction", progress.fraction},
              {"rate", progress.rate},
              {"eta_seconds", progress.eta_seconds}}
      .dump();
}

}  // namespace

Result<CampaignProgress> read_progress(const std::string& file) {
  REWRIGHT_TRY(const std::string text, read_file(file));
  const Json json = Json::parse(text, nullptr, false);
  try {
    CampaignProgress progress;
    progress.phase = json.at("phase").get<std::string>();
    progress.unit = json.at("unit").get<std::string>();
    progress.level = json.at("level").get<int>();
    progress.done = json.at("done").get<std::uint64_t>();
    progress.fraction = json.at("fraction").get<double>();
    progress.rate = json.at("rate").get<double>();
    progress.eta_seconds = json.at("eta_seconds").get<double>();
    return progress;
  } catch (const Json::exception&) {
    return make_error(ErrorCode::kParse, "'{}' is damaged; the next run writes it again", file);
  }
}

void ProgressReporter::report(CampaignProgress progress) {
  const std::lock_guard lock(mutex_);
  const Clock::time_point now = Clock::now();
  if (progress.phase != first_.phase || progress.unit != first_.unit || progress.level != first_.level ||
      progress.done < first_.done) {
    first_ = progress;
    started_ = now;
  }
  const double elapsed = Seconds(now - started_).count();
  if (elapsed > kSecondsBetweenFiles) {
    progress.rate = static_cast<double>(progress.done - first_.done) / elapsed;
    const double gained = progress.fraction - first_.fraction;
    if (gained > 0) progress.eta_seconds = elapsed * (1 - progress.fraction) / gained;
  }
  if (show_) show_(progress);
  if (now - written_ < kBetweenWrites) return;
  written_ = now;
  // A disk too full for this file must not end the campaign; the next try may succeed.
  (void)write_file(file_, to_json(progress));
}

}  // namespace rewright
