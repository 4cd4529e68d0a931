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

constexpr Millis drain_max{2'000};  // For responses that are being sent.

std::string text_of(const asio::ip::tcp::endpoint& endpoint) {
  const std::string address = endpoint.address().to_string();
  return endpoint.address().is_v6() ? fmt::format("[{}]:{}", address, endpoint.port())
                                    : fmt::format("{}:{}", address, endpoint.port());
}

}  // namespace

Listeners::Listeners(Node& node, api::Handler handler)
    : node_(node), handler_(std::move(handler)), tally_(std::make_shared<api::AddressTally>()) {}

Result<api::HttpServerOptions> Listeners::options(const config::Config& config) const {
  api::HttpServerOptions options = http_options(config.api, node_.io_contexts().size());
  options.tally = tally_;
  if (!config.tls.certificate.empty()) {
    POSTRIDER_TRY(options.tls, api::load_tls_identity(
                                   {.certificate = config.tls.certificate, .key = config.tls.key}));
  }
  Service& service = node_.service();
  options.now = [&service] { return service.now(); };
  options.make_request_id = [&service] { return "req_" + to_base32(service.new_uuid()); };
  options.on_handler_error = [](std::string_view request_id, std::string_view what) {
    spdlog::error("api.handler_failed request={} what=\"{}\"", log_safe(request_id),
                  log_safe(what));
  };
  return options;
}

/// The listeners share their port with SO_REUSEPORT. The system would let another server share it
/// as well: two stores behind one address. Listening once without sharing detects that.
Result<void> Listeners::check_port_is_free() {
  api::HttpServerOptions exclusive;
  exclusive.reuse_port = false;
  POSTRIDER_TRY(const std::unique_ptr<api::HttpServer> probe,
                api::listen(*node_.io_contexts().front(), address_, handler_, exclusive));
  return {};
}

Result<void> Listeners::open(const config::Config& config) {
  POSTRIDER_TRY(const api::HttpServerOptions http, options(config));
  tls_ = http.tls != nullptr;
  address_ = config.listen;
  POSTRIDER_CHECK(check_port_is_free());
  for (asio::io_context* io : node_.io_contexts()) {
    POSTRIDER_TRY(std::unique_ptr<api::HttpServer> server,
                  api::listen(*io, address_, handler_, http));
    address_ = text_of(server->local_endpoint());  // With port 0 the others use the same port.
    servers_.push_back(std::move(server));
  }
  return {};
}

Result<void> Listeners::change(const config::Config& config) {
  POSTRIDER_TRY(const api::HttpServerOptions http, options(config));
  const std::vector<asio::io_context*> contexts = node_.io_contexts();
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    asio::post(*contexts[i], [&server = *servers_[i], http] { server.change(http); });
  }
  return {};
}

Endpoint Listeners::endpoint() const {
  const asio::ip::tcp::endpoint local = servers_.front()->local_endpoint();
  return {IpAddress::parse(local.address().to_string()).value_or(IpAddress{}), local.port()};
}

std::string Listeners::url() const {
  return fmt::format("{}://{}", tls_ ? "https" : "http", address_);
}

std::vector<MetricSample> Listeners::samples() const {
  std::vector<api::HttpServerCounters> counters;
  counters.reserve(servers_.size());
  for (const auto& server : servers_) {
    counters.push_back(server->recent_counters());
  }
  return api::to_samples(counters);
}

void Listeners::drain() {
  std::vector<std::promise<void>> done(servers_.size());
  const std::vector<asio::io_context*> contexts = node_.io_contexts();
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    asio::post(*contexts[i], [&server = *servers_[i], &each = done[i]] {
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
    for (std::size_t i = 0; i < servers_.size(); ++i) {
      asio::post(*contexts[i], [&server = *servers_[i]] { server.stop(); });
    }
    for (const std::future<void>& wait : waits) {
      wait.wait();  // Short, because stop() closes all connections. `done` must outlive it.
    }
  }
}

}  // namespace postrider
