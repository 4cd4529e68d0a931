#include "main/listeners.h"

#include <future>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "api/http/http_samples.h"
#include "main/from_config.h"
#include "runtime/observability/attempt_log.h"

namespace postrider {
namespace {

namespace asio = boost::asio;

constexpr Millis drain_max{2'000};                      // For responses that are being sent.
constexpr std::size_t monitoring_connections_max = 64;  // Scrapers and probes.

/// `router` must outlive the result.
api::Handler serve_with(const api::Router& router) {
  return [&router](api::HttpRequest request) { return router.route(std::move(request)); };
}

std::string text_of(const asio::ip::tcp::endpoint& endpoint) {
  const std::string address = endpoint.address().to_string();
  return endpoint.address().is_v6() ? fmt::format("[{}]:{}", address, endpoint.port())
                                    : fmt::format("{}:{}", address, endpoint.port());
}

}  // namespace

Listeners::Listeners(Node& node, const api::Router& router, const api::Router& monitoring,
                     api::HeadRecheck recheck_head)
    : node_(node),
      router_(router),
      monitoring_(monitoring),
      recheck_head_(std::move(recheck_head)),
      connection_shares_(std::make_shared<api::SharedShares>(ShareRules{})) {}

Result<api::HttpServerOptions> Listeners::options(const config::Config& config) const {
  api::HttpServerOptions options = http_options(config.api, node_.io_contexts().size());
  options.connection_shares = connection_shares_;
  options.observer = access_log_;
  options.check_head = [this](const api::HttpRequest& head) { return router_.check_head(head); };
  options.recheck_head = recheck_head_;
  if (!config.tls.certificate.empty()) {
    POSTRIDER_TRY(options.tls, api::load_tls_identity(
                                   {.certificate = config.tls.certificate, .key = config.tls.key}));
  }
  Service& service = node_.service();
  options.now = [&service] { return service.now(); };
  options.make_request_id = [&service] { return "req_" + to_base32(service.new_uuid()); };
  options.on_handler_error = [](std::string_view request_id, std::string_view what) {
    spdlog::error("api.handler_failed request_id=\"{}\" reason=\"{}\"", log_safe(request_id),
                  log_safe(what));
  };
  return options;
}

/// The listeners share their port with SO_REUSEPORT. The system would let another server share it
/// as well: two stores behind one address. Listening once without sharing detects that.
Result<void> Listeners::check_port_is_free(const std::string& address) {
  api::HttpServerOptions exclusive;
  exclusive.reuse_port = false;
  POSTRIDER_TRY(const std::unique_ptr<api::HttpServer> probe,
                api::listen(*node_.io_contexts().front(), address, serve_with(router_), exclusive));
  return {};
}

api::HttpServerOptions Listeners::monitoring_options(const config::Config& config) const {
  api::HttpServerOptions options = http_options(config.api, 1);
  options.connections_max = monitoring_connections_max;
  options.observer = access_log_;
  options.check_head = [this](const api::HttpRequest& head) {
    return monitoring_.check_head(head);
  };
  options.now = [&service = node_.service()] { return service.now(); };
  return options;
}

Result<void> Listeners::open_monitoring(const config::Config& config) {
  if (config.metrics_listen.empty()) {
    return {};
  }
  POSTRIDER_CHECK(check_port_is_free(config.metrics_listen));
  asio::io_context* io = node_.io_contexts().front();
  POSTRIDER_TRY(
      std::unique_ptr<api::HttpServer> server,
      api::listen(*io, config.metrics_listen, serve_with(monitoring_), monitoring_options(config)));
  spdlog::info("metrics.listening address={}", text_of(server->local_endpoint()));
  servers_.push_back({io, std::move(server), true});
  return {};
}

Result<void> Listeners::open(const config::Config& config) {
  POSTRIDER_TRY(const api::HttpServerOptions http, options(config));
  tls_ = http.tls != nullptr;
  address_ = config.listen;
  connection_shares_->change(connection_rules(config.api));
  access_log_->change(config.log_access);
  POSTRIDER_CHECK(check_port_is_free(address_));
  for (asio::io_context* io : node_.io_contexts()) {
    POSTRIDER_TRY(std::unique_ptr<api::HttpServer> server,
                  api::listen(*io, address_, serve_with(router_), http));
    address_ = text_of(server->local_endpoint());  // With port 0 the others use the same port.
    servers_.push_back({io, std::move(server)});
  }
  return open_monitoring(config);
}

Result<void> Listeners::change(const config::Config& config) {
  POSTRIDER_TRY(const api::HttpServerOptions http, options(config));
  connection_shares_->change(connection_rules(config.api));
  access_log_->change(config.log_access);
  for (const Opened& each : servers_) {
    asio::post(*each.io,
               [&server = *each.server, http = each.is_monitoring ? monitoring_options(config)
                                                                  : http] { server.change(http); });
  }
  return {};
}

Endpoint Listeners::endpoint() const {
  const asio::ip::tcp::endpoint local = servers_.front().server->local_endpoint();
  return {IpAddress::parse(local.address().to_string()).value_or(IpAddress{}), local.port()};
}

std::string Listeners::url() const {
  return fmt::format("{}://{}", tls_ ? "https" : "http", address_);
}

std::vector<MetricSample> Listeners::samples() const {
  std::vector<api::HttpServerCounters> counters;
  counters.reserve(servers_.size());
  for (const Opened& each : servers_) {
    counters.push_back(each.server->recent_counters());
  }
  return api::to_samples(counters);
}

void Listeners::drain() {
  std::vector<std::promise<void>> done(servers_.size());
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    asio::post(*servers_[i].io, [&server = *servers_[i].server, &each = done[i]] {
      server.drain([&each] { each.set_value(); });
    });
  }
  std::vector<std::future<void>> waits;
  waits.reserve(done.size());
  for (std::promise<void>& each : done) {
    waits.push_back(each.get_future());
  }
  bool in_time = true;
  for (const std::future<void>& wait : waits) {
    in_time = wait.wait_for(drain_max) == std::future_status::ready && in_time;
  }
  if (!in_time) {
    for (const Opened& each : servers_) {
      asio::post(*each.io, [&server = *each.server] { server.stop(); });
    }
    for (const std::future<void>& wait : waits) {
      wait.wait();  // Short, because stop() closes all connections. `done` must outlive it.
    }
  }
}

}  // namespace postrider
