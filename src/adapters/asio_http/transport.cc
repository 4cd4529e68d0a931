#include "adapters/asio_http/transport.h"

#include <utility>
#include <vector>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/intrusive/list.hpp>

#include "adapters/asio_http/exchange.h"

namespace postrider {
namespace {

using namespace asio_http;

constexpr Millis sweep_interval{1'000};

struct Parts {
  boost::intrusive_ptr<Resolver> resolver;
  std::unique_ptr<TlsContext> tls;
};

/// State shared by all exchanges, and the timer that drives their deadlines. Reference-counted
/// because the handler of the timer may still be queued when the transport is destroyed.
class Core : public boost::intrusive_ref_counter<Core, boost::thread_unsafe_counter> {
 public:
  Core(boost::asio::io_context& io, TransportOptions options, const Clock& clock, Parts parts)
      : clock_(clock),
        policy_{std::move(options.addresses), 0},
        parts_(std::move(parts)),
        pool_(options.pool, policy_),
        wheel_(clock.now().mono),
        timer_(io),
        context_{io,
                 clock,
                 policy_,
                 pool_,
                 *parts_.resolver,
                 *parts_.tls,
                 wheel_,
                 options.lax_responses} {}

  void send(OutboundRequest request, Exchange::Done done) {
    const boost::intrusive_ptr<Exchange> exchange{
        new Exchange(context_, std::move(request), std::move(done))};
    active_.push_back(*exchange);
    if (stopped_) {
      exchange->fail_stopped();
      return;
    }
    exchange->start();
    if (!ticking_) {
      tick_after(DeadlineWheel::tick);
      ticking_ = true;
    }
  }

  void end(std::uint16_t group) {
    std::vector<boost::intrusive_ptr<Exchange>> ending;  // A `done` may start and end others.
    for (Exchange& exchange : active_) {
      if (exchange.group() == group) {
        ending.emplace_back(&exchange);
      }
    }
    for (const boost::intrusive_ptr<Exchange>& exchange : ending) {
      exchange->stop();
    }
  }

  void stop() {
    stopped_ = true;
    while (!active_.empty()) {
      active_.front().stop();
    }
    pool_.close_all();
    timer_.cancel();
  }

  void change_addresses(AddressPolicy addresses) {
    policy_.addresses = std::move(addresses);
    ++policy_.epoch;
  }

  [[nodiscard]] std::size_t idle_connections() const { return pool_.size(); }
  [[nodiscard]] TransportCounters counters() const { return pool_.counters(); }

 private:
  void tick_after(Millis delay) {
    timer_.expires_after(delay);
    timer_.async_wait([self = boost::intrusive_ptr{this}](const error_code& failure) {
      if (!failure && !self->stopped_) {
        self->on_tick();
      }
    });
  }

  void on_tick() {
    const MonoTime now = clock_.now().mono;
    wheel_.advance(now);
    if (parts_.resolver->busy()) {
      parts_.resolver->tick();
    }
    if (now - swept_at_ >= sweep_interval) {
      swept_at_ = now;
      pool_.sweep(now);
    }
    if (stopped_) {
      return;
    }
    // Without active requests only idle connections need the timer, and once a second is enough.
    ticking_ = !active_.empty() || parts_.resolver->busy();
    if (ticking_) {
      tick_after(DeadlineWheel::tick);
    } else if (!pool_.empty()) {
      tick_after(sweep_interval);
    }
  }

  using Active = boost::intrusive::list<Exchange, boost::intrusive::base_hook<ActiveHook>,
                                        boost::intrusive::constant_time_size<false>>;

  const Clock& clock_;
  CurrentPolicy policy_;
  Parts parts_;
  ConnectionPool pool_;
  DeadlineWheel wheel_;
  boost::asio::steady_timer timer_;
  ExchangeContext context_;
  Active active_;
  MonoTime swept_at_;
  bool ticking_ = false;  // The timer runs every few milliseconds.
  bool stopped_ = false;
};

class AsioHttpTransport final : public AsioTransport {
 public:
  explicit AsioHttpTransport(boost::intrusive_ptr<Core> core) : core_(std::move(core)) {}
  AsioHttpTransport(const AsioHttpTransport&) = delete;
  AsioHttpTransport& operator=(const AsioHttpTransport&) = delete;
  ~AsioHttpTransport() override { stop(); }

  void send(OutboundRequest request, std::function<void(Outcome)> done) override {
    core_->send(std::move(request), std::move(done));
  }

  void end(std::uint16_t group) override {
    const boost::intrusive_ptr<Core> keep = core_;  // A `done` may destroy the transport.
    keep->end(group);
  }

  void stop() override {
    const boost::intrusive_ptr<Core> keep = core_;  // A `done` may destroy the transport.
    keep->stop();
  }

  void change_addresses(AddressPolicy addresses) override {
    core_->change_addresses(std::move(addresses));
  }

  [[nodiscard]] std::size_t idle_connections() const override { return core_->idle_connections(); }
  [[nodiscard]] TransportCounters counters() const override { return core_->counters(); }

 private:
  boost::intrusive_ptr<Core> core_;
};

}  // namespace

Result<std::unique_ptr<AsioTransport>> make_asio_transport(boost::asio::io_context& io,
                                                           TransportOptions options,
                                                           const Clock& clock) {
  Parts parts;
  POSTRIDER_TRY(parts.resolver, Resolver::make(io, options.dns, clock));
  POSTRIDER_TRY(parts.tls, TlsContext::make(options.tls));
  boost::intrusive_ptr<Core> core{new Core(io, std::move(options), clock, std::move(parts))};
  return std::make_unique<AsioHttpTransport>(std::move(core));
}

}  // namespace postrider
