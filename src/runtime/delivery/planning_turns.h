// Divides an io thread between publishes that take long to plan. One of them makes a step at a
// time. Between two steps the thread handles everything else that is ready, so that any number of
// such publishes delays others by one step. Tenants take turns. Io thread only.
#pragma once

#include <functional>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include "core/model/event.h"
#include "engine/admin/fair_queue.h"

namespace postrider {

class PlanningTurns {
 public:
  /// `io` must outlive this object.
  explicit PlanningTurns(boost::asio::io_context& io) : io_(io) {}

  /// Returns when the tenant may make a step. The turn ends when the caller waits for anything.
  [[nodiscard]] boost::asio::awaitable<void> next(TenantId tenant_id);

 private:
  void post_turn();
  void start_turn();

  boost::asio::io_context& io_;
  FairQueue<std::function<void()>> waiting_{{.total = 1, .owner_max = 1}};
  bool is_posted_ = false;
};

}  // namespace postrider
