// Resolves host names with c-ares on the transport's io_context. Uses neither /etc/hosts nor search
// domains: the meaning of a name must not depend on the machine. Not thread-safe.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <ares.h>
#include <boost/asio/io_context.hpp>
#include <boost/intrusive/list.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>

#include "core/base/result.h"
#include "ports/clock.h"

#include "adapters/asio_http/dns_cache.h"
#include "adapters/asio_http/transport.h"

namespace postrider::asio_http {

using AutoUnlink = boost::intrusive::link_mode<boost::intrusive::auto_unlink>;

struct WaiterTag;

/// Base class of an object that waits for a lookup. Unlinking or destroying it cancels the wait.
class ResolveWaiter
    : public boost::intrusive::list_base_hook<boost::intrusive::tag<WaiterTag>, AutoUnlink> {
 public:
  virtual void on_resolved(const DnsAnswerPtr& answer) = 0;

 protected:
  ResolveWaiter() = default;
  ~ResolveWaiter() = default;
};

class DnsSocket;

class Resolver : public boost::intrusive_ref_counter<Resolver, boost::thread_unsafe_counter> {
 public:
  /// Fails with: invalid, unavailable.
  static Result<boost::intrusive_ptr<Resolver>> make(boost::asio::io_context& io,
                                                     const DnsOptions& options, const Clock& clock);
  ~Resolver();

  /// Returns the answer if it is available at once. Otherwise returns nullptr and calls `waiter`
  /// later. Lookups of the same name at the same time share one query.
  [[nodiscard]] DnsAnswerPtr resolve(const std::string& name, ResolveWaiter& waiter);

  /// Handles the timeouts of c-ares. Call every few milliseconds while `busy`.
  void tick();
  [[nodiscard]] bool busy() const { return !lookups_.empty(); }

 private:
  using Waiters =
      boost::intrusive::list<ResolveWaiter,
                             boost::intrusive::base_hook<boost::intrusive::list_base_hook<
                                 boost::intrusive::tag<WaiterTag>, AutoUnlink>>,
                             boost::intrusive::constant_time_size<false>>;
  struct Lookup {
    Resolver* resolver;
    std::string name;
    Waiters waiters;
    DnsAnswerPtr answer;
    std::uint64_t shortages_before = 0;  // Resolver::shortages_ when the lookup began.
  };
  friend class DnsSocket;

  Resolver(boost::asio::io_context& io, const DnsOptions& options, const Clock& clock);
  Result<void> open();
  static const ares_socket_functions* socket_functions();
  static void on_socket_state(void* self, ares_socket_t fd, int readable, int writable);
  static void on_addresses(void* lookup, int status, int timeouts, ares_addrinfo* result);
  void process(ares_socket_t readable, ares_socket_t writable);
  void finish(Lookup& lookup, DnsAnswer answer);
  void notify_waiters();

  boost::asio::io_context& io_;
  DnsOptions options_;
  const Clock& clock_;
  DnsCache cache_;
  ares_channel channel_ = nullptr;
  std::uint64_t shortages_ = 0;  // Sockets that could not be opened.
  std::unordered_map<ares_socket_t, boost::intrusive_ptr<DnsSocket>> sockets_;
  std::unordered_map<std::string, std::unique_ptr<Lookup>> lookups_;
  std::vector<std::unique_ptr<Lookup>> finished_;  // Reported after c-ares has returned.
};

}  // namespace postrider::asio_http
