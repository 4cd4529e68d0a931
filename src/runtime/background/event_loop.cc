#include "runtime/background/event_loop.h"

#include <algorithm>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

namespace postrider {
namespace {

class AsioTimer final : public EventLoop::Timer {
 public:
  explicit AsioTimer(boost::asio::io_context& io) : timer_(io) {}

  void start(Micros wait, std::function<void()> fire) override {
    timer_.expires_after(std::max(wait, Micros{0}));
    timer_.async_wait([fire = std::move(fire)](const boost::system::error_code& error) {
      if (!error) {
        fire();
      }
    });
  }

 private:
  boost::asio::steady_timer timer_;
};

class AsioEventLoop final : public EventLoop {
 public:
  explicit AsioEventLoop(boost::asio::io_context& io) : io_(io) {}

  void post(std::function<void()> run) override { boost::asio::post(io_, std::move(run)); }
  std::unique_ptr<Timer> make_timer() override { return std::make_unique<AsioTimer>(io_); }

 private:
  boost::asio::io_context& io_;
};

}  // namespace

std::unique_ptr<EventLoop> make_event_loop(boost::asio::io_context& io) {
  return std::make_unique<AsioEventLoop>(io);
}

}  // namespace postrider
