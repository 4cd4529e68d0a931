#include "runtime/background/store_checker.h"

#include <utility>

#include <spdlog/spdlog.h>

#include "core/base/assert.h"

#include "runtime/observability/attempt_log.h"

namespace postrider {

StoreChecker::StoreChecker(Parts parts) : parts_(std::move(parts)) {
  POSTRIDER_ASSERT(parts_.check != nullptr);
  POSTRIDER_ASSERT(parts_.rows_per_second > 0);
}

void StoreChecker::start(EventLoop& loop) {
  loop_ = &loop;
  timer_ = loop.make_timer();
  loop.post([this] { wait(); });
}

void StoreChecker::wait() {
  constexpr Micros second{1'000'000};
  timer_->start(second * check_step_rows / parts_.rows_per_second, [this] { step(); });
}

void StoreChecker::step() {
  parts_.readers->submit([this](Reader&) {
    Result<CheckStep> step = parts_.check->check_some(check_step_rows);
    loop_->post([this, step = std::move(step)] { finish(step); });
  });
}

void StoreChecker::finish(const Result<CheckStep>& step) {
  wait();
  if (!step) {
    spdlog::warn("store.check_failed reason=\"{}\"", log_safe(step.error().message));
    return;
  }
  const AlertSubject subject{AlertKind::store_corrupt, std::nullopt};
  rows_ += step->rows;
  if (step->damage) {
    damaged_ = true;
    spdlog::error("store.damaged detail=\"{}\"", log_safe(*step->damage));
    parts_.alerts->on_alert_change({.subject = subject, .active = true, .detail = *step->damage});
  }
  if (!step->pass_ended) {
    return;
  }
  spdlog::info("store.checked rows={} damaged={}", rows_, damaged_);
  if (!damaged_) {
    parts_.alerts->on_alert_change({.subject = subject, .active = false, .detail = {}});
  }
  rows_ = 0;
  damaged_ = false;
}

}  // namespace postrider
