#include "engine/notify/flap_damper.h"

#include <algorithm>

namespace postrider {
namespace {

// When there are more subjects, those that have been quiet are forgotten.
constexpr std::size_t subjects_max = 1'000;

}  // namespace

WallTime FlapDamper::not_before(const AlertSubject& subject, WallTime now) const {
  const auto known = subjects_.find(subject);
  return known == subjects_.end()
             ? now
             : std::max(now, later(known->second.told_at, known->second.pause));
}

void FlapDamper::told(const AlertSubject& subject, WallTime now, Millis window) {
  if (subjects_.size() >= subjects_max) {
    std::erase_if(subjects_, [&](const auto& entry) {
      return now - entry.second.told_at >= 2 * entry.second.pause;
    });
  }
  const auto [known, is_new] = subjects_.try_emplace(subject, Subject{now, window});
  if (!is_new) {
    Subject& state = known->second;
    const bool keeps_changing = now - state.told_at < 2 * (state.pause + window);
    state.pause = keeps_changing ? std::min(2 * state.pause, pause_max) : window;
    state.told_at = now;
  }
}

bool FlapDamper::is_idle(WallTime now) const {
  return std::ranges::all_of(
      subjects_, [&](const auto& entry) { return now - entry.second.told_at >= 2 * pause_max; });
}

}  // namespace postrider
