#include "runtime/delivery/planning_turns.h"

#include <algorithm>
#include <exception>
#include <string>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <gtest/gtest.h>

namespace postrider {
namespace {

namespace asio = boost::asio;

void rethrow(const std::exception_ptr& error) {
  if (error) {
    std::rethrow_exception(error);
  }
}

class PlanningTurnsTest : public testing::Test {
 protected:
  void plan(const TenantId& tenant_id, int steps) {
    asio::co_spawn(io_, take(tenant_id, steps), rethrow);
  }
  asio::awaitable<void> take(TenantId tenant_id, int steps) {
    for (int step = 0; step < steps; ++step) {
      auto turn = turns_.next(tenant_id);
      co_await std::move(turn);
      log_.push_back(tenant_id);
    }
  }

  asio::io_context io_;
  std::vector<std::string> log_;
  PlanningTurns turns_{io_};
};

TEST_F(PlanningTurnsTest, TenantsTakeTurns) {
  plan("a", 3);
  plan("a", 3);
  plan("a", 3);
  plan("b", 3);
  io_.run();
  ASSERT_EQ(log_.size(), 12u);
  const std::vector<std::string> first(log_.begin(), log_.begin() + 6);
  EXPECT_EQ(first, (std::vector<std::string>{"a", "b", "a", "b", "a", "b"}));
}

TEST_F(PlanningTurnsTest, OtherWorkIsDoneAfterEachStep) {
  for (int count = 0; count < 10; ++count) {
    plan("a", 2);
  }
  io_.poll_one();  // Spawns one, so that a turn is posted.
  for (int count = 0; count < 5; ++count) {
    asio::post(io_, [this] { asio::post(io_, [this] { log_.emplace_back("other"); }); });
  }
  io_.run();
  ASSERT_EQ(log_.size(), 25u);
  const auto last = std::find(log_.rbegin(), log_.rend(), "other");
  EXPECT_LE(log_.rend() - last, 5 + 3) << "at most a few steps come first";
}

TEST_F(PlanningTurnsTest, MayBeDestroyedWhileSomeWait) {
  plan("a", 2);
  plan("b", 2);
  while (log_.empty()) {
    io_.run_one();
  }
  EXPECT_EQ(log_.size(), 1u);
}

}  // namespace
}  // namespace postrider
