#include "api/http/http_server.h"

#include <algorithm>
#include <exception>
#include <list>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <fmt/format.h>
#include <sys/socket.h>

#include "core/base/assert.h"

#include "api/http/client_address.h"
#include "api/http/http_connection.h"
#include "api/http/listen_address.h"
#include "api/http/response_writer.h"

namespace postrider::api {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using std::chrono::milliseconds;

constexpr std::uint64_t small_body_bytes = 64ul * 1024;
constexpr milliseconds accept_pause{
    100};  // After a failed accept, usually for want of a descriptor.

// A quarter of the shortest timeout, so that no deadline is off by much more than that.
milliseconds tick_interval_for(const HttpServerOptions& options) {
  const milliseconds shortest =
      std::min({options.header_timeout, options.body_timeout, options.write_timeout,
                options.idle_timeout, options.linger_timeout});
  return std::clamp(shortest / 4, milliseconds{1}, milliseconds{250});
}

/// Each owner and the operator have room for one body of the largest size.
ShareRules body_share_rules(const HttpServerOptions& options) {
  const std::uint64_t total = options.buffered_bytes_max;
  const ShareRules rules = share_rules(total);
  const std::uint64_t one = std::min<std::uint64_t>(options.body_bytes_max, total / 2);
  return {.total = total,
          .owner_max = std::max(rules.owner_max, one),
          .owner_min = std::min<std::uint64_t>(small_body_bytes, one),
          .reserve = std::max(rules.reserve, one)};
}

/// Kept alive by its pending operations and by the coroutines of its connections.
class Listener : public std::enable_shared_from_this<Listener> {
 public:
  Listener(asio::io_context& io, Handler handler, HttpServerOptions options)
      : io_(io), acceptor_(io), accept_retry_(io), ticker_(io) {
    shared_.handler = std::move(handler);
    change(std::move(options));
  }

  void change(HttpServerOptions options) {
    shared_.tick_interval = tick_interval_for(options);
    shared_.body_shares.change(body_share_rules(options));
    shared_.extra_shares.change(share_rules(options.extra_connections_max));
    shared_.options = std::move(options);
  }

  Result<void> open(const tcp::endpoint& endpoint) {
    error_code error = try_open(endpoint);
    if (error) {
      return fail(Errc::unavailable,
                  fmt::format("Cannot listen on {}:{}: {}.", endpoint.address().to_string(),
                              endpoint.port(), error.message()));
    }
    endpoint_ = acceptor_.local_endpoint(error);
    accept();
    return {};
  }

  [[nodiscard]] tcp::endpoint local_endpoint() const { return endpoint_; }
  [[nodiscard]] HttpServerCounters counters() const {
    HttpServerCounters counters = shared_.counters;
    counters.connections_open = connections_.size();
    return counters;
  }

  [[nodiscard]] HttpServerCounters recent_counters() const {
    const std::lock_guard lock{recent_mutex_};
    return recent_;
  }

  void drain(std::function<void()> stopped) {
    stopped_ = std::move(stopped);
    shared_.draining = true;
    stop_accepting();
    for (const auto& connection : connections_) {
      connection->drain();
    }
    report_if_stopped();
  }

  void stop() {
    stop_accepting();
    for (const auto& connection : connections_) {
      connection->close();
    }
    report_if_stopped();
  }

 private:
  using Connections = std::list<std::unique_ptr<Connection>>;

  error_code try_open(const tcp::endpoint& endpoint) {
    error_code error;
    acceptor_.open(endpoint.protocol(), error);
    if (!error) {
      acceptor_.set_option(tcp::acceptor::reuse_address{true}, error);
    }
    if (!error && shared_.options.reuse_port) {
      const int on = 1;
      if (::setsockopt(acceptor_.native_handle(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) != 0) {
        error.assign(errno, boost::system::system_category());
      }
    }
    if (!error) {
      acceptor_.bind(endpoint, error);
    }
    if (!error) {
      acceptor_.listen(tcp::acceptor::max_listen_connections, error);
    }
    return error;
  }

  void stop_accepting() {
    error_code ignored;
    acceptor_.close(ignored);
    accept_retry_.cancel();
  }

  void accept() {
    acceptor_.async_accept([self = shared_from_this()](error_code error, tcp::socket socket) {
      if (!self->acceptor_.is_open()) {
        return;
      }
      if (!error) {
        self->admit(std::move(socket));
      }
      if (error && error != asio::error::connection_aborted) {
        ++self->shared_.counters.accepts_failed;
        self->accept_later();
        return;
      }
      self->accept();
    });
  }

  void accept_later() {
    accept_retry_.expires_after(accept_pause);
    accept_retry_.async_wait([self = shared_from_this()](error_code error) {
      if (!error && self->acceptor_.is_open()) {
        self->accept();
      }
    });
  }

  void admit(tcp::socket socket) {
    ++shared_.counters.connections_accepted;
    std::optional<SharePlace> place;
    const bool full = connections_.size() - extra_.size() >= shared_.options.connections_max ||
                      !take_place(socket, place);
    if (full) {
      ++shared_.counters.connections_refused;
      if (extra_.size() >= shared_.options.extra_connections_max && !close_oldest_extra()) {
        return;  // Closes the socket.
      }
    }

    start_ticking();
    const auto position =
        connections_.insert(connections_.end(), make_connection(std::move(socket), shared_));
    Connection& connection = **position;
    if (full) {
      extra_.push_back(&connection);
    }
    // Holding `self` here keeps the listener alive until its last coroutine has ended.
    auto ended = [self = shared_from_this(), position,
                  place = std::move(place)](const std::exception_ptr&) {
      std::erase(self->extra_, position->get());
      self->connections_.erase(position);
      self->report_if_stopped();
    };
    asio::co_spawn(io_, full ? connection.serve_if_known() : connection.serve(), std::move(ended));
  }

  /// Takes a place for the connection. Returns false if its client or all together have too many.
  bool take_place(const tcp::socket& socket, std::optional<SharePlace>& place) {
    const HttpServerOptions& options = shared_.options;
    error_code gone;
    const std::string peer = socket.remote_endpoint(gone).address().to_string();
    const std::optional<IpAddress> address = IpAddress::parse(peer);
    if (!options.connection_shares || gone || !address) {
      return true;
    }
    // A trusted proxy belongs to the operator.
    const ShareOwner owner = is_in(options.trusted_proxies, *address)
                                 ? ShareOwner{}
                                 : ShareOwner{ShareKind::address, client_group(peer)};
    if (options.connection_shares->take(owner) != ShareVerdict::granted) {
      return false;
    }
    place.emplace(options.connection_shares, owner);
    return true;
  }

  /// Makes room for a newer connection over a limit. Whoever opens many of them cannot keep a
  /// client with a key out, because that one's is closed only after as many newer ones.
  bool close_oldest_extra() {
    const auto oldest = std::ranges::find_if(
        extra_, [](const Connection* connection) { return connection->is_unknown(); });
    if (oldest == extra_.end()) {
      return false;
    }
    (*oldest)->close();
    extra_.erase(oldest);
    return true;
  }

  // The ticker runs only while there are connections, so that an idle server does not wake up.
  void start_ticking() {
    if (!connections_.empty()) {
      return;
    }
    refresh_date();
    if (!ticking_) {
      ticking_ = true;
      tick_later();
    }
  }

  void tick_later() {
    ticker_.expires_after(shared_.tick_interval);
    ticker_.async_wait([self = shared_from_this()](error_code) { self->tick(); });
  }

  void tick() {
    ++shared_.tick;
    publish_counters();
    if (connections_.empty()) {
      ticking_ = false;
      return;
    }
    refresh_date();
    for (const auto& connection : connections_) {
      connection->on_tick();
    }
    tick_later();
  }

  void publish_counters() {
    const std::lock_guard lock{recent_mutex_};
    recent_ = counters();
  }

  void refresh_date() {
    if (!shared_.options.now) {
      return;
    }
    const WallTime now = shared_.options.now().wall;
    const std::int64_t second = to_unix_seconds(now);
    if (second != date_second_ || shared_.date.empty()) {
      date_second_ = second;
      shared_.date = http_date(now);
    }
  }

  void report_if_stopped() {
    if (acceptor_.is_open() || !connections_.empty()) {
      return;
    }
    ticker_.cancel();  // A pending timer would keep the event loop running.
    if (stopped_) {
      asio::post(io_, std::exchange(stopped_, nullptr));
    }
  }

  asio::io_context& io_;
  ConnectionShared shared_;
  tcp::acceptor acceptor_;
  tcp::endpoint endpoint_;
  asio::steady_timer accept_retry_;
  asio::steady_timer ticker_;
  Connections connections_;
  std::vector<Connection*> extra_;  // Those over a limit, oldest first.
  std::function<void()> stopped_;
  std::int64_t date_second_ = 0;
  bool ticking_ = false;
  mutable std::mutex recent_mutex_;  // Guards recent_.
  HttpServerCounters recent_;
};

/// Owns the listener on behalf of main: stops it when destroyed.
class ListenerHandle final : public HttpServer {
 public:
  explicit ListenerHandle(std::shared_ptr<Listener> listener) : listener_(std::move(listener)) {}
  ~ListenerHandle() override { listener_->stop(); }
  ListenerHandle(const ListenerHandle&) = delete;
  ListenerHandle& operator=(const ListenerHandle&) = delete;

  [[nodiscard]] tcp::endpoint local_endpoint() const override {
    return listener_->local_endpoint();
  }
  [[nodiscard]] HttpServerCounters counters() const override { return listener_->counters(); }
  [[nodiscard]] HttpServerCounters recent_counters() const override {
    return listener_->recent_counters();
  }
  void drain(std::function<void()> stopped) override { listener_->drain(std::move(stopped)); }
  void change(HttpServerOptions options) override { listener_->change(std::move(options)); }
  void stop() override { listener_->stop(); }

 private:
  std::shared_ptr<Listener> listener_;
};

}  // namespace

Result<std::unique_ptr<HttpServer>> listen(asio::io_context& io, const std::string& address,
                                           Handler handler, HttpServerOptions options) {
  POSTRIDER_ASSERT(handler != nullptr);
  POSTRIDER_TRY(const tcp::endpoint endpoint, parse_listen_address(address));
  auto listener = std::make_shared<Listener>(io, std::move(handler), std::move(options));
  POSTRIDER_CHECK(listener->open(endpoint));
  return std::make_unique<ListenerHandle>(std::move(listener));
}

}  // namespace postrider::api
