#include "runtime/delivery/planning_turns.h"

#include <optional>
#include <utility>

#include <boost/asio/post.hpp>

#include "runtime/store/await_callback.h"

namespace postrider {

boost::asio::awaitable<void> PlanningTurns::next(TenantId tenant_id) {
  auto begin = [this, &tenant_id](const std::function<void(bool)>& resume) {
    waiting_.push({.kind = ShareKind::tenant, .name = std::move(tenant_id)},
                  [resume] { resume(true); });
    post_turn();
  };
  (void)co_await await_callback<bool>(begin);
}

void PlanningTurns::post_turn() {
  if (!is_posted_) {
    is_posted_ = true;
    boost::asio::post(io_, [this] { start_turn(); });
  }
}

void PlanningTurns::start_turn() {
  is_posted_ = false;
  const auto turn = waiting_.start();
  if (!turn) {
    return;
  }
  turn->job();
  waiting_.end(turn->owner);
  if (!waiting_.empty()) {
    post_turn();
  }
}

}  // namespace postrider
