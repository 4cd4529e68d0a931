#include "runtime/delivery/attempt_waiters.h"

#include <utility>
#include <vector>

#include <boost/asio/steady_timer.hpp>

namespace postrider {

struct AttemptWaiters::Watch {
  Done done;
  boost::asio::steady_timer patience;
  std::optional<Settlement> settlement;  // Made; not yet on disk.
};

AttemptWaiters::AttemptWaiters(boost::asio::io_context& io) : io_(io) {}
AttemptWaiters::~AttemptWaiters() = default;

void AttemptWaiters::add(DeliveryId id, Millis patience, Done done) {
  auto watch = std::make_unique<Watch>(
      Watch{.done = std::move(done), .patience = boost::asio::steady_timer{io_}, .settlement = {}});
  watch->patience.expires_after(patience);
  watch->patience.async_wait([this, id](const boost::system::error_code& error) {
    if (!error) {
      end(id, std::optional<Settlement>{});
    }
  });
  watches_.insert_or_assign(id, std::move(watch));
}

void AttemptWaiters::attempted(const Settlement& settlement) {
  if (watches_.empty()) {
    return;
  }
  const auto found = watches_.find(settlement.delivery.id);
  if (found != watches_.end()) {
    found->second->settlement = settlement;
  }
}

void AttemptWaiters::settled(const Settled& settled) {
  if (watches_.empty()) {
    return;
  }
  for (const LaneDelivery& delivery : settled.deliveries) {
    const auto found = watches_.find(delivery.delivery_id);
    if (found != watches_.end() && found->second->settlement) {
      end(delivery.delivery_id, std::move(found->second->settlement));
    }
  }
}

void AttemptWaiters::fail(DeliveryId id, const Error& error) {
  end(id, tl::make_unexpected(error));
}

void AttemptWaiters::fail_all(const Error& error) {
  std::vector<DeliveryId> ids;
  for (const auto& [id, watch] : watches_) {
    ids.push_back(id);
  }
  for (const DeliveryId id : ids) {
    fail(id, error);
  }
}

void AttemptWaiters::end(DeliveryId id, Result<std::optional<Settlement>> result) {
  const auto found = watches_.find(id);
  if (found == watches_.end()) {
    return;
  }
  // Out of the table first: `done` may add another.
  const std::unique_ptr<Watch> watch = std::move(found->second);
  watches_.erase(found);
  watch->done(std::move(result));
}

}  // namespace postrider
