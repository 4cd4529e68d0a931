#include "adapters/asio_http/resolver.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/base/assert.h"

#include "adapters/asio_http/failure_text.h"

namespace postrider::asio_http {
namespace {

constexpr std::size_t lookups_max = 4'096;  // At the same time; c-ares uses 16-bit query ids.
constexpr std::size_t addresses_max = 64;   // Of one name; only a few are ever tried.
constexpr std::string_view no_socket_text =
    "this server has no free file descriptor or memory for a DNS query";

std::string_view explain(int status) {
  switch (status) {
    case ARES_ENOTFOUND:
      return "the name does not exist";
    case ARES_ENODATA:
      return "the name has no IP address";
    case ARES_ETIMEOUT:
      return "the DNS server did not answer in time";
    case ARES_ESERVFAIL:
    case ARES_EREFUSED:
    case ARES_ECONNREFUSED:  // c-ares also returns this for the two above.
      return "no DNS server gave an answer";
    case ARES_EBADNAME:
      return "it is not a valid host name";
    case ARES_ECANCELLED:
    case ARES_EDESTRUCTION:
      return "the lookup was cancelled";
    default:
      return ares_strerror(status);
  }
}

std::optional<IpAddress> to_address(const sockaddr* address) {
  IpAddress result;
  if (address->sa_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, address, sizeof v4);
    std::memcpy(result.bytes.data(), &v4.sin_addr, 4);
    return result;
  }
  if (address->sa_family == AF_INET6) {
    sockaddr_in6 v6{};
    std::memcpy(&v6, address, sizeof v6);
    result.is_v6 = true;
    std::memcpy(result.bytes.data(), &v6.sin6_addr, 16);
    return result;
  }
  return std::nullopt;
}

DnsAnswer to_answer(const ares_addrinfo& result) {
  DnsAnswer answer;
  int time_to_live = INT32_MAX;
  for (const auto* alias = result.cnames; alias != nullptr; alias = alias->next) {
    time_to_live = std::min(time_to_live, alias->ttl);
  }
  for (const auto* node = result.nodes; node != nullptr; node = node->ai_next) {
    time_to_live = std::min(time_to_live, node->ai_ttl);
    const std::optional<IpAddress> address = to_address(node->ai_addr);
    if (address && answer.addresses.size() < addresses_max) {
      answer.addresses.push_back(*address);
    }
  }
  if (answer.addresses.empty()) {
    answer.error = explain(ARES_ENODATA);
  }
  answer.time_to_live = std::chrono::seconds{std::max(time_to_live, 0)};
  return answer;
}

/// These names always mean this machine (RFC 6761).
bool is_localhost(std::string_view name) {
  return name == "localhost" || name.ends_with(".localhost");
}

DnsAnswerPtr localhost_answer() {
  static const DnsAnswerPtr answer = [] {
    DnsAnswer loopback;
    IpAddress& v4 = loopback.addresses.emplace_back();
    v4.bytes = {127, 0, 0, 1};
    IpAddress& v6 = loopback.addresses.emplace_back();
    v6.is_v6 = true;
    v6.bytes[15] = 1;
    return std::make_shared<const DnsAnswer>(std::move(loopback));
  }();
  return answer;
}

}  // namespace

/// Watches a socket that belongs to c-ares. c-ares closes it; this class only releases it.
class DnsSocket : public boost::intrusive_ref_counter<DnsSocket, boost::thread_unsafe_counter> {
 public:
  DnsSocket(boost::asio::io_context& io, Resolver& resolver, ares_socket_t fd)
      : resolver_(&resolver), fd_(fd), descriptor_(io, fd) {}
  DnsSocket(const DnsSocket&) = delete;
  DnsSocket& operator=(const DnsSocket&) = delete;
  ~DnsSocket() { release(); }

  void want(bool read, bool write) {
    wants_read_ = read;
    wants_write_ = write;
    watch();
  }

  void release() {
    resolver_ = nullptr;
    if (descriptor_.is_open()) {
      descriptor_.release();
    }
  }

 private:
  using Descriptor = boost::asio::posix::stream_descriptor;

  void watch() {
    if (wants_read_ && !reading_) {
      reading_ = true;
      descriptor_.async_wait(Descriptor::wait_read, [self = boost::intrusive_ptr(this)](
                                                        boost::system::error_code failure) {
        self->reading_ = false;
        self->on_ready(failure, self->fd_, ARES_SOCKET_BAD);
      });
    }
    if (wants_write_ && !writing_) {
      writing_ = true;
      descriptor_.async_wait(Descriptor::wait_write, [self = boost::intrusive_ptr(this)](
                                                         boost::system::error_code failure) {
        self->writing_ = false;
        self->on_ready(failure, ARES_SOCKET_BAD, self->fd_);
      });
    }
  }

  void on_ready(boost::system::error_code failure, ares_socket_t readable, ares_socket_t writable) {
    if (resolver_ == nullptr || failure == boost::asio::error::operation_aborted) {
      return;
    }
    // A waiter may destroy the transport.
    const boost::intrusive_ptr<Resolver> resolver{resolver_};
    resolver->process(readable, writable);
    if (resolver_ != nullptr) {
      watch();
    }
  }

  Resolver* resolver_;  // nullptr once c-ares has closed the socket.
  ares_socket_t fd_;
  Descriptor descriptor_;
  bool wants_read_ = false;
  bool wants_write_ = false;
  bool reading_ = false;
  bool writing_ = false;
};

Resolver::Resolver(boost::asio::io_context& io, const DnsOptions& options, const Clock& clock)
    : io_(io), options_(options), clock_(clock), cache_(options.cache_entries_max) {}

Resolver::~Resolver() {
  if (channel_ != nullptr) {
    ares_destroy(channel_);  // Calls on_addresses for active lookups; their waiters are not called.
  }
  for (const auto& [fd, socket] : sockets_) {
    socket->release();
  }
}

Result<boost::intrusive_ptr<Resolver>> Resolver::make(boost::asio::io_context& io,
                                                      const DnsOptions& options,
                                                      const Clock& clock) {
  boost::intrusive_ptr<Resolver> resolver{new Resolver(io, options, clock)};
  POSTRIDER_CHECK(resolver->open());
  return resolver;
}

Result<void> Resolver::open() {
  if (const int status = ares_library_init(ARES_LIB_INIT_ALL); status != ARES_SUCCESS) {
    return fail(Errc::unavailable, fmt::format("c-ares: {}.", ares_strerror(status)));
  }
  char lookups[] = "b";  // DNS servers only, no hosts file.
  ares_options options{};
  options.flags = ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES | ARES_FLAG_EDNS;
  options.ednspsz = 1232;  // Avoids fragmentation; larger answers come over TCP.
  options.timeout = static_cast<int>(options_.try_timeout.count());
  options.tries = options_.tries;
  options.lookups = lookups;
  options.sock_state_cb = &Resolver::on_socket_state;
  options.sock_state_cb_data = this;
  const int mask = ARES_OPT_FLAGS | ARES_OPT_EDNSPSZ | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES |
                   ARES_OPT_LOOKUPS | ARES_OPT_SOCK_STATE_CB | ARES_OPT_DOMAINS;
  if (const int status = ares_init_options(&channel_, &options, mask); status != ARES_SUCCESS) {
    channel_ = nullptr;
    return fail(Errc::unavailable, fmt::format("c-ares: {}.", ares_strerror(status)));
  }
  ares_set_socket_functions(channel_, socket_functions(), this);
  if (!options_.servers.empty() &&
      ares_set_servers_ports_csv(channel_, options_.servers.c_str()) != ARES_SUCCESS) {
    return fail(
        Errc::invalid,
        fmt::format("'{}' is not a list of DNS servers. Use ip:port,ip:port.", options_.servers));
  }
  return {};
}

/// As c-ares does it by itself, except that a socket that cannot be opened is counted: c-ares
/// reports it as if no server had answered.
const ares_socket_functions* Resolver::socket_functions() {
  static const ares_socket_functions functions = {
      .asocket = [](int domain, int type, int protocol, void* self) -> ares_socket_t {
        const int fd = ::socket(domain, type | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol);
        if (fd < 0 && is_own_shortage({errno, boost::system::system_category()})) {
          ++static_cast<Resolver*>(self)->shortages_;
        }
        return fd;
      },
      .aclose = [](ares_socket_t fd, void*) { return ::close(fd); },
      .aconnect = [](ares_socket_t fd, const sockaddr* address, ares_socklen_t length,
                     void*) { return ::connect(fd, address, length); },
      .arecvfrom = [](ares_socket_t fd, void* buffer, std::size_t length, int flags, sockaddr* from,
                      ares_socklen_t* from_length, void*) -> ares_ssize_t {
        return ::recvfrom(fd, buffer, length, flags, from, from_length);
      },
      .asendv = [](ares_socket_t fd, const iovec* parts, int count, void*) -> ares_ssize_t {
        return ::writev(fd, parts, count);
      }};
  return &functions;
}

DnsAnswerPtr Resolver::resolve(const std::string& name, ResolveWaiter& waiter) {
  POSTRIDER_ASSERT(!waiter.is_linked());
  if (is_localhost(name)) {
    return localhost_answer();
  }
  if (DnsAnswerPtr known = cache_.find(name, clock_.now().mono)) {
    return known;
  }
  if (const auto shared = lookups_.find(name); shared != lookups_.end()) {
    shared->second->waiters.push_back(waiter);
    return nullptr;
  }
  if (lookups_.size() >= lookups_max) {
    return std::make_shared<const DnsAnswer>(
        DnsAnswer{.addresses = {},
                  .error = "too many DNS lookups are in progress",
                  .time_to_live = {},
                  .own_shortage = Shortage::destination});
  }

  Lookup& lookup =
      *lookups_.emplace(name, std::make_unique<Lookup>(Lookup{this, name, {}, nullptr, shortages_}))
           .first->second;
  ares_addrinfo_hints hints{};
  hints.ai_flags = ARES_AI_NOSORT;
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  ares_getaddrinfo(channel_, name.c_str(), nullptr, &hints, &Resolver::on_addresses, &lookup);

  // c-ares may have failed immediately.
  const auto ended = std::ranges::find(finished_, &lookup, &std::unique_ptr<Lookup>::get);
  if (ended == finished_.end()) {
    lookup.waiters.push_back(waiter);
    return nullptr;
  }
  DnsAnswerPtr answer = std::move((*ended)->answer);
  finished_.erase(ended);
  return answer;
}

void Resolver::tick() { process(ARES_SOCKET_BAD, ARES_SOCKET_BAD); }

void Resolver::process(ares_socket_t readable, ares_socket_t writable) {
  ares_process_fd(channel_, readable, writable);
  notify_waiters();
}

void Resolver::notify_waiters() {
  const boost::intrusive_ptr<Resolver> keep{this};
  while (!finished_.empty()) {
    const std::unique_ptr<Lookup> lookup = std::move(finished_.back());
    finished_.pop_back();
    while (!lookup->waiters.empty()) {
      ResolveWaiter& waiter = lookup->waiters.front();
      waiter.unlink();
      waiter.on_resolved(lookup->answer);
    }
  }
}

void Resolver::on_socket_state(void* self, ares_socket_t fd, int readable, int writable) {
  auto& resolver = *static_cast<Resolver*>(self);
  const auto found = resolver.sockets_.find(fd);
  if (readable == 0 && writable == 0) {
    if (found != resolver.sockets_.end()) {
      found->second->release();
      resolver.sockets_.erase(found);
    }
    return;
  }
  if (found != resolver.sockets_.end()) {
    found->second->want(readable != 0, writable != 0);
    return;
  }
  const boost::intrusive_ptr<DnsSocket> socket{new DnsSocket(resolver.io_, resolver, fd)};
  resolver.sockets_.emplace(fd, socket);
  socket->want(readable != 0, writable != 0);
}

void Resolver::on_addresses(void* lookup, int status, int /*timeouts*/, ares_addrinfo* result) {
  auto& ended = *static_cast<Lookup*>(lookup);
  DnsAnswer answer;
  if (status == ARES_SUCCESS && result != nullptr) {
    answer = to_answer(*result);
  } else {
    const Resolver& resolver = *ended.resolver;
    const bool short_of_sockets = resolver.shortages_ != ended.shortages_before &&
                                  status != ARES_ENOTFOUND && status != ARES_ENODATA;
    if (status == ARES_ENOMEM || short_of_sockets) {
      answer.own_shortage = Shortage::server;
    }
    answer.error = answer.own_shortage == Shortage::none ? explain(status) : no_socket_text;
  }
  if (result != nullptr) {
    ares_freeaddrinfo(result);
  }
  ended.resolver->finish(ended, std::move(answer));
}

void Resolver::finish(Lookup& lookup, DnsAnswer answer) {
  const MonoTime now = clock_.now().mono;
  const bool found = answer.error.empty();
  const Micros kept = found ? std::min<Micros>(answer.time_to_live, options_.cache_max)
                            : Micros{options_.negative_cache};
  lookup.answer = std::make_shared<const DnsAnswer>(std::move(answer));
  if (lookup.answer->own_shortage == Shortage::none) {
    cache_.put(lookup.name, lookup.answer, now, now + kept);
  }

  auto node = lookups_.extract(lookup.name);
  POSTRIDER_ASSERT(!node.empty());
  finished_.push_back(std::move(node.mapped()));
}

}  // namespace postrider::asio_http
