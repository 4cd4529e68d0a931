// Idle connections kept for the next request to the same origin; the most recently used is taken
// first. Bounded in number, idle time and age. Every reuse is checked against the current address
// policy (P6, P11). Io thread only unless noted.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <unordered_map>

#include <boost/intrusive/list.hpp>

#include "core/base/time.h"
#include "core/net/address.h"

#include "adapters/asio_http/connection.h"
#include "adapters/asio_http/transport.h"

namespace postrider::asio_http {

/// The operator's address policy. `epoch` changes with every new policy.
struct CurrentPolicy {
  AddressPolicy addresses;
  std::uint64_t epoch = 0;
};

/// An origin by reference: lookups copy nothing.
struct OriginView {
  bool tls = false;
  std::string_view host;
  std::uint16_t port = 0;

  bool operator==(const OriginView&) const = default;
};

class ConnectionPool final : private IdleConnectionObserver {
 public:
  ConnectionPool(const PoolOptions& options, const CurrentPolicy& policy)
      : options_(options), policy_(policy) {}
  ConnectionPool(const ConnectionPool&) = delete;
  ConnectionPool& operator=(const ConnectionPool&) = delete;
  ~ConnectionPool() { close_all(); }

  /// Returns a usable connection, or nullptr.
  [[nodiscard]] ConnectionPtr take(const OriginView& origin, MonoTime now);

  /// Keeps the connection, or closes it if it is too old or has unread input. Closes the oldest
  /// connection if the pool is full.
  void give_back(const ConnectionPtr& connection, MonoTime now);

  /// Closes connections that have been idle for too long. Call periodically.
  void sweep(MonoTime now);

  /// Returns true if there was any connection.
  bool close_all();

  [[nodiscard]] std::size_t size() const { return count_; }

  void count_opened() { opened_.add(1); }
  /// Any thread.
  [[nodiscard]] TransportCounters counters() const {
    return {.idle = idle_.get(), .opened = opened_.get(), .reused = reused_.get()};
  }
  /// True if no origin has an entry, not even one without connections.
  [[nodiscard]] bool empty() const { return origins_.empty(); }

 private:
  template <class Tag>
  using IdleList = boost::intrusive::list<Connection, boost::intrusive::base_hook<IdleHook<Tag>>>;

  /// Written by the pool's thread, read by any thread. Costs no more than a plain number.
  class Counter {
   public:
    void add(std::uint64_t more) { set(get() + more); }
    void set(std::uint64_t value) { value_.store(value, std::memory_order_relaxed); }
    [[nodiscard]] std::uint64_t get() const { return value_.load(std::memory_order_relaxed); }

   private:
    std::atomic<std::uint64_t> value_{0};
  };

  struct Hash {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): as std wants it.
    std::size_t operator()(const OriginView& origin) const {
      return std::hash<std::string_view>{}(origin.host) ^
             (std::size_t{origin.port} << 1 | std::size_t{origin.tls});
    }
    std::size_t operator()(const Origin& origin) const { return (*this)(view(origin)); }
  };
  struct Equal {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): as std wants it.
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      return view(a) == view(b);
    }
  };
  struct OriginEntry {
    IdleList<OriginTag> idle;  // Most recently used last.
    MonoTime used_at;          // An empty entry is kept for a while, so that it is not recreated.
  };

  static OriginView view(const Origin& origin) { return {origin.tls, origin.host, origin.port}; }
  static OriginView view(const OriginView& origin) { return origin; }

  void on_unusable(Connection& connection) override { drop(connection); }
  [[nodiscard]] bool fit_for_reuse(Connection& connection, MonoTime now) const;
  ConnectionPtr unlink(Connection& connection);
  void drop(Connection& connection);

  PoolOptions options_;
  const CurrentPolicy& policy_;
  std::unordered_map<Origin, OriginEntry, Hash, Equal> origins_;
  IdleList<AgeTag> by_age_;  // Longest idle first.
  std::size_t count_ = 0;
  Counter idle_;  // count_ for other threads.
  Counter opened_;
  Counter reused_;
};

}  // namespace postrider::asio_http
