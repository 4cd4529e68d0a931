#include "adapters/asio_http/connection_pool.h"

#include <utility>

#include "core/base/assert.h"

namespace postrider::asio_http {

ConnectionPtr ConnectionPool::take(const OriginView& origin, MonoTime now) {
  const auto found = origins_.find(origin);
  if (found == origins_.end()) {
    return nullptr;
  }
  OriginEntry& entry = found->second;
  entry.used_at = now;
  while (!entry.idle.empty()) {
    ConnectionPtr connection = unlink(entry.idle.back());
    if (fit_for_reuse(*connection, now)) {
      reused_.add(1);
      return connection;
    }
    connection->close();
  }
  return nullptr;
}

bool ConnectionPool::fit_for_reuse(Connection& connection, MonoTime now) const {
  if (now - connection.idle_since >= options_.idle_timeout ||
      now - connection.created_at >= options_.life_max) {
    return false;
  }
  if (connection.policy_epoch != policy_.epoch) {
    if (forbidden_address(connection.address(), policy_.addresses)) {
      return false;
    }
    connection.policy_epoch = policy_.epoch;
  }
  return connection.is_still_idle();
}

void ConnectionPool::give_back(const ConnectionPtr& connection, MonoTime now) {
  connection->set_user(nullptr);
  const bool wanted = options_.idle_max > 0 && options_.idle_per_origin_max > 0 &&
                      now - connection->created_at < options_.life_max && !connection->writing() &&
                      !connection->has_unread_input();
  if (!wanted) {
    connection->close();
    return;
  }
  auto found = origins_.find(view(connection->origin()));
  if (found == origins_.end()) {
    found = origins_.try_emplace(connection->origin()).first;
  }
  OriginEntry& entry = found->second;
  if (entry.idle.size() >= options_.idle_per_origin_max) {
    drop(entry.idle.front());
  }
  if (count_ >= options_.idle_max) {
    drop(by_age_.front());
  }

  entry.used_at = now;
  connection->idle_since = now;
  connection->set_idle_observer(this);
  entry.idle.push_back(*connection);
  by_age_.push_back(*connection);
  idle_.set(++count_);
  connection->watch_while_idle();
  intrusive_ptr_add_ref(connection.get());  // The reference of the lists; unlink() returns it.
}

ConnectionPtr ConnectionPool::unlink(Connection& connection) {
  const auto found = origins_.find(view(connection.origin()));
  POSTRIDER_ASSERT(found != origins_.end());
  POSTRIDER_ASSERT(count_ > 0);
  found->second.idle.erase(found->second.idle.iterator_to(connection));
  by_age_.erase(by_age_.iterator_to(connection));
  idle_.set(--count_);
  connection.set_idle_observer(nullptr);
  return {&connection, false};
}

void ConnectionPool::drop(Connection& connection) { unlink(connection)->close(); }

void ConnectionPool::sweep(MonoTime now) {
  while (!by_age_.empty() && now - by_age_.front().idle_since >= options_.idle_timeout) {
    drop(by_age_.front());
  }
  std::erase_if(origins_, [&](const auto& entry) {
    return entry.second.idle.empty() && now - entry.second.used_at >= options_.idle_timeout;
  });
}

bool ConnectionPool::close_all() {
  const bool any = count_ > 0;
  while (!by_age_.empty()) {
    drop(by_age_.front());
  }
  return any;
}

}  // namespace postrider::asio_http
