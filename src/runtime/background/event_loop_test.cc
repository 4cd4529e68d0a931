#include "runtime/background/event_loop.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

using namespace std::chrono_literals;

class EventLoopTest : public testing::Test {
 protected:
  boost::asio::io_context io_;
  std::unique_ptr<EventLoop> loop_ = make_event_loop(io_);
  int fired_ = 0;
};

TEST_F(EventLoopTest, RunsAPostedFunctionLater) {
  loop_->post([this] { ++fired_; });
  EXPECT_EQ(fired_, 0);
  io_.run();
  EXPECT_EQ(fired_, 1);
}

TEST_F(EventLoopTest, FiresATimerOnce) {
  const std::unique_ptr<EventLoop::Timer> timer = loop_->make_timer();
  timer->start(2ms, [this] { ++fired_; });
  EXPECT_EQ(fired_, 0);
  io_.run();
  EXPECT_EQ(fired_, 1);
}

TEST_F(EventLoopTest, DoesNotFireATimerBeforeItsWaitIsOver) {
  const std::unique_ptr<EventLoop::Timer> timer = loop_->make_timer();
  timer->start(1h, [this] { ++fired_; });
  io_.poll();
  EXPECT_EQ(fired_, 0);
}

TEST_F(EventLoopTest, FiresAtOnceIfTheWaitIsNegative) {
  const std::unique_ptr<EventLoop::Timer> timer = loop_->make_timer();
  timer->start(-1h, [this] { ++fired_; });
  io_.run();
  EXPECT_EQ(fired_, 1);
}

TEST_F(EventLoopTest, ASecondStartReplacesTheFirst) {
  const std::unique_ptr<EventLoop::Timer> timer = loop_->make_timer();
  timer->start(1h, [this] { fired_ += 10; });
  timer->start(1ms, [this] { ++fired_; });
  io_.run();
  EXPECT_EQ(fired_, 1);
}

TEST_F(EventLoopTest, DestroyingATimerCancelsIt) {
  std::unique_ptr<EventLoop::Timer> timer = loop_->make_timer();
  timer->start(1h, [this] { ++fired_; });
  timer.reset();
  io_.run();
  EXPECT_EQ(fired_, 0);
}

}  // namespace
}  // namespace postrider
