#include "main/server.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <future>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "adapters/asio_http/transport.h"
#include "adapters/openssl/digest.h"
#include "adapters/openssl/signer.h"
#include "adapters/sqlite/sqlite_store.h"
#include "adapters/system/system_clock.h"
#include "adapters/zstd_archive/zstd_archive.h"
#include "api/archive_json.h"
#include "api/http_readings.h"
#include "api/http_server.h"
#include "api/router.h"
#include "api/routes.h"
#include "cli/version.h"
#include "main/admin_key.h"
#include "runtime/node.h"

namespace postrider {
namespace {

namespace asio = boost::asio;

constexpr std::size_t reader_count =
    2;  // People read now and then; two keep a slow query from blocking.
constexpr std::size_t request_bytes_max = 16u << 20;  // A batch of 1,000 events of ordinary size.
constexpr Millis http_drain_max{
    2'000};  // For the answers that are on their way when deliveries are done.

UrlPolicy url_policy(const cli::ServeOptions& options) {
  UrlPolicy policy;
  policy.allow_http = options.allow_http || options.allow_private_targets;
  policy.addresses.allow_private = options.allow_private_targets;
  return policy;
}

std::size_t worker_count(const cli::ServeOptions& options) {
  if (options.io_threads > 0) {
    return options.io_threads;
  }
  return std::max(std::thread::hardware_concurrency(), 2u) - 1;  // One core for the store thread.
}

std::uint64_t random_seed() {
  const std::string bytes = random_bytes(sizeof(std::uint64_t));
  std::uint64_t seed = 0;
  std::memcpy(&seed, bytes.data(), sizeof seed);
  return seed;
}

MakeTransport transport_maker(const cli::ServeOptions& options) {
  return [addresses = url_policy(options).addresses](
             asio::io_context& io, const Clock& clock) -> Result<std::unique_ptr<Transport>> {
    TransportOptions transport;
    transport.addresses = addresses;
    return make_asio_transport(io, std::move(transport), clock);
  };
}

RetentionOptions retention_options(const cli::ServeOptions& options) {
  return {
      .ages = {.events = options.retention_events, .dead_letters = options.retention_dead_letters}};
}

class RunningServer final : public Server {
 public:
  explicit RunningServer(const cli::ServeOptions& options) : options_(options) {}
  ~RunningServer() override { shut_down(); }

  /// Everything that can fail.
  Result<void> start();
  void run_until_signal() override;

 private:
  Result<NodeParts> open_parts(const SqliteOptions& store);
  Result<void> take_port_alone(const api::Handler& handler);
  Result<void> listen();
  [[nodiscard]] std::vector<Reading> read_listeners() const;
  void announce() const;
  void drain();
  void drain_http();
  void shut_down();

  cli::ServeOptions options_;
  AdminKey admin_key_;
  std::unique_ptr<Node> node_;
  api::Router router_;
  std::vector<std::unique_ptr<api::HttpServer>> listeners_;
  std::string address_;

  asio::io_context main_io_;
  asio::signal_set signals_{main_io_, SIGTERM, SIGINT};
  asio::steady_timer deadline_{main_io_};
};

Result<NodeParts> RunningServer::open_parts(const SqliteOptions& store) {
  POSTRIDER_TRY(Store opened, open_sqlite_store(store));
  NodeParts parts{.store = std::move(opened),
                  .readers = {},
                  .clock = make_system_clock(),
                  .make_transport = transport_maker(options_),
                  .make_sign = make_sign};
  if (!options_.archive_directory.empty()) {
    POSTRIDER_TRY(parts.archive,
                  open_zstd_archive({.directory = options_.archive_directory, .sha256 = sha256}));
    parts.archive_line = api::write_archive_line;
  }
  for (std::size_t i = 0; i < reader_count; ++i) {
    POSTRIDER_TRY(Reader reader, open_sqlite_reader(store));
    parts.readers.push_back(std::move(reader));
  }
  return parts;
}

Result<void> RunningServer::start() {
  POSTRIDER_TRY(NodeParts parts, open_parts({.directory = options_.data_directory,
                                             .vfs = std::string{},
                                             .shrinks = options_.shrinking_store,
                                             .digest = sha256}));
  POSTRIDER_TRY(const RegistryContents registry, parts.store.registry->load());
  admin_key_ = choose_admin_key(options_.admin_key, registry.keys, parts.clock->now().wall);
  const NodeOptions node_options{.worker_count = worker_count(options_),
                                 .seed = random_seed(),
                                 .url_policy = url_policy(options_),
                                 .user_agent = fmt::format("Postrider/{}", cli::version()),
                                 .shard = {},
                                 .retention = retention_options(options_)};
  POSTRIDER_TRY(node_, make_node(node_options, std::move(parts), admin_key_.to_store));

  api::ApiOptions api_options;
  api_options.url_policy = url_policy(options_);
  api_options.user_agent = node_options.user_agent;
  api::add_routes(router_, node_->service(), std::move(api_options));
  POSTRIDER_CHECK(listen());
  node_->add_probe([this] { return read_listeners(); });
  node_->start();
  announce();
  return {};
}

/// The listeners share their port, and would share it with another server's just as well: two
/// stores behind one address. So the port is first taken for a moment by one who does not share.
Result<void> RunningServer::take_port_alone(const api::Handler& handler) {
  api::HttpServerOptions alone;
  alone.reuse_port = false;
  POSTRIDER_TRY(const std::unique_ptr<api::HttpServer> probe,
                api::listen(*node_->io_contexts().front(), address_, handler, alone));
  return {};
}

Result<void> RunningServer::listen() {
  api::HttpServerOptions http;
  http.body_bytes_max = request_bytes_max;
  http.now = [this] { return node_->service().now(); };
  http.make_request_id = [this] { return "req_" + to_base32(node_->service().new_uuid()); };
  http.on_handler_error = [](std::string_view request_id, std::string_view what) {
    spdlog::error("api.handler_failed request={} what=\"{}\"", log_safe(request_id),
                  log_safe(what));
  };
  const api::Handler handler = [this](api::HttpRequest request) {
    return router_.route(std::move(request));
  };
  address_ = options_.listen_address;
  POSTRIDER_CHECK(take_port_alone(handler));
  for (asio::io_context* io : node_->io_contexts()) {
    POSTRIDER_TRY(std::unique_ptr<api::HttpServer> listener,
                  api::listen(*io, address_, handler, http));
    const asio::ip::tcp::endpoint bound = listener->local_endpoint();
    address_ = bound.address().is_v6()
                   ? fmt::format("[{}]:{}", bound.address().to_string(), bound.port())
                   : fmt::format("{}:{}", bound.address().to_string(), bound.port());
    listeners_.push_back(
        std::move(listener));  // With port 0 the others join the one that was picked.
  }
  return {};
}

std::vector<Reading> RunningServer::read_listeners() const {
  std::vector<api::HttpServerCounters> counters;
  for (const auto& listener : listeners_) {
    counters.push_back(listener->recent_counters());
  }
  return api::to_readings(counters);
}

void RunningServer::announce() const {
  const std::string key = admin_key_.to_show ? admin_key_.to_show->reveal() : std::string{};
  if (options_.json) {
    fmt::print("{{\"address\":\"http://{}\",\"data\":\"{}\",\"admin_key\":{}}}\n", address_,
               options_.data_directory, key.empty() ? "null" : fmt::format("\"{}\"", key));
  } else {
    fmt::print("Postrider {}\n  address    http://{}/\n  data       {}\n", cli::version(), address_,
               options_.data_directory);
    if (!key.empty()) {
      fmt::print("  admin key  {}   (shown this once; only its hash is kept)\n", key);
    }
  }
  (void)std::fflush(stdout);
}

void RunningServer::run_until_signal() {
  signals_.async_wait([this](const boost::system::error_code& error, int) {
    if (!error) {
      drain();
    }
  });
  main_io_.run();
  shut_down();
}

void RunningServer::drain() {
  spdlog::warn("server.draining deadline_ms={}", options_.drain_timeout.count());
  const auto enough = [this] { main_io_.stop(); };
  node_->drain([this, enough] { asio::post(main_io_, enough); });
  deadline_.expires_after(options_.drain_timeout);
  deadline_.async_wait([enough](const boost::system::error_code&) { enough(); });
  signals_.async_wait([enough](const boost::system::error_code&, int) { enough(); });
}

void RunningServer::drain_http() {
  std::vector<std::promise<void>> done(listeners_.size());
  const std::vector<asio::io_context*> contexts = node_->io_contexts();
  for (std::size_t i = 0; i < listeners_.size(); ++i) {
    asio::post(*contexts[i], [&listener = *listeners_[i], &each = done[i]] {
      listener.drain([&each] { each.set_value(); });
    });
  }
  std::vector<std::future<void>> waits;
  for (std::promise<void>& each : done) {
    waits.push_back(each.get_future());
  }
  bool in_time = true;
  for (std::future<void>& wait : waits) {
    in_time = wait.wait_for(http_drain_max) == std::future_status::ready && in_time;
  }
  if (!in_time) {
    for (std::size_t i = 0; i < listeners_.size(); ++i) {
      asio::post(*contexts[i], [&listener = *listeners_[i]] { listener.stop(); });
    }
    for (std::future<void>& wait : waits) {
      wait.wait();  // stop() leaves no connection, so this is soon; `done` must outlive it.
    }
  }
}

void RunningServer::shut_down() {
  if (!node_) {
    return;
  }
  if (!listeners_.empty()) {
    drain_http();
  }
  node_->stop();
  listeners_.clear();
  node_.reset();
}

}  // namespace

Result<std::unique_ptr<Server>> start_server(const cli::ServeOptions& options) {
  auto server = std::make_unique<RunningServer>(options);
  POSTRIDER_CHECK(server->start());
  return server;
}

}  // namespace postrider
