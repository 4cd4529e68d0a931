#include "main/server.h"

#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/host_name.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "adapters/asio_http/transport.h"
#include "adapters/json_schema/schema_check.h"
#include "adapters/openssl/digest.h"
#include "adapters/openssl/openssl_crypto.h"
#include "adapters/openssl/signer.h"
#include "adapters/otlp/otlp_exporter.h"
#include "adapters/postgres/waiting.h"
#include "adapters/system/clock_file.h"
#include "adapters/system/node_file.h"
#include "adapters/system/private_directory.h"
#include "adapters/system/system_clock.h"
#include "adapters/zstd/zstd_archive.h"
#include "api/http/router.h"
#include "api/json/archive_json.h"
#include "api/resources/routes.h"
#include "api/resources/sessions.h"
#include "api/resources/shared_answer.h"
#include "api/ui/dashboard.h"
#include "cli/text/version.h"
#include "config/load.h"
#include "main/admin_key.h"
#include "main/banner.h"
#include "main/configured_channels.h"
#include "main/configured_event_types.h"
#include "main/fitted_limits.h"
#include "main/from_config.h"
#include "main/listeners.h"
#include "main/logging.h"
#include "main/notification_wiring.h"
#include "main/server_samples.h"
#include "main/settings_in_force.h"
#include "main/source_wiring.h"
#include "main/store.h"
#include "main/store_incident.h"
#include "main/vault.h"
#include "runtime/cluster/catalog_lock.h"
#include "runtime/delivery/node.h"
#include "runtime/observability/attempt_log.h"

namespace postrider {
namespace {

namespace asio = boost::asio;

constexpr std::size_t admin_key_bytes_safe = 16;  // Cannot be guessed over the network.
// Reads by people are rare; with two readers a slow query does not block the others. The third is
// left to the operator.
constexpr std::size_t reader_count = 3;
constexpr Millis clock_file_period{1'000};

std::uint64_t random_seed() {
  const std::string bytes = random_bytes(sizeof(std::uint64_t));
  std::uint64_t seed = 0;
  std::memcpy(&seed, bytes.data(), sizeof seed);
  return seed;
}

AlertId new_alert_id(WallTime now) { return AlertId{UuidGenerator{random_seed()}.next(now)}; }

MakeTransport transport_maker(const FittedLimits& limits) {
  TransportOptions options;
  options.addresses = url_policy(limits.config).addresses;
  options.dns.servers = fmt::format("{}", fmt::join(limits.config.dns_servers, ","));
  options.pool.idle_max = limits.idle_per_thread;
  options.lax_responses = limits.config.lax_responses;
  return [options](asio::io_context& io, const Clock& clock) -> Result<std::unique_ptr<Transport>> {
    return make_asio_transport(io, options, clock);
  };
}

/// Null if no archive is configured.
Result<std::unique_ptr<Archive>> open_archive(const config::RetentionConfig& retention) {
  if (retention.archive_directory.empty()) {
    return nullptr;
  }
  return open_zstd_archive({.directory = retention.archive_directory, .sha256 = sha256});
}

Result<void> open_other_archive(const config::Config& wanted, RetentionChange& change) {
  if (change.other_archive) {
    POSTRIDER_TRY(change.archive, open_archive(wanted.retention));
  }
  return {};
}

void warn_about_keys(const config::Config& config) {
  if (config.secrets.key_file.empty() && !config.secrets.key) {
    spdlog::warn(
        "secrets.plain detail=\"No secrets key is configured: webhook secrets are stored in clear "
        "text. Use --secrets-key-file.\"");
  }
  if (config.admin_key && config.admin_key->reveal().size() < admin_key_bytes_safe) {
    spdlog::warn(
        "admin_key.short detail=\"The admin key has fewer than {} characters and can be guessed.\"",
        admin_key_bytes_safe);
  }
}

class RunningServer final : public Server {
 public:
  explicit RunningServer(ServerOptions options)
      : options_(std::move(options)),
        loaded_(options_.loaded),
        dashboard_(api::make_dashboard(options_.dashboard)) {}
  ~RunningServer() override { shut_down(); }

  /// Does everything that can fail.
  Result<void> start();
  void run_until_signal() override;

 private:
  Result<NodeParts> open_parts(const StoreOptions& store, const FittedLimits& limits);
  [[nodiscard]] FittedLimits fitted(const config::Config& config) const;
  [[nodiscard]] NodeOptions node_options(const FittedLimits& limits, const NodeIdentity& identity,
                                         NotificationOptions notifications) const;
  /// Opens the listeners, and the sources of events, of the node that is about to start.
  [[nodiscard]] Result<void> listen(const FittedLimits& limits, const std::string& store_id);
  [[nodiscard]] std::string clock_file() const { return config_.data + "/clock"; }
  /// Notes for the next start by how much the wall clock was set.
  void write_clock_file_soon();
  void write_clock_file_now();
  /// The link that signs a browser in at the first start. Empty at others.
  [[nodiscard]] std::string sign_in_link() const;
  void announce() const;
  [[nodiscard]] Millis since(MonoTime begun) const;
  void wait_for_reload();
  void reload();
  [[nodiscard]] api::ApiOptions current_api_options() const;
  /// Applies the URL and address policy to the API and the deliveries.
  void apply_targets();
  void drain(int signal);
  void shut_down();

  enum class DrainEnd : std::uint8_t { finished, deadline, second_signal };
  void end_drain(DrainEnd how);

  ServerOptions options_;
  config::Loaded loaded_;  // The current configuration, also if its limits do not fit.
  config::Config& config_ = loaded_.config;
  std::shared_ptr<const api::Dashboard> dashboard_;
  std::uint64_t descriptors_ = 0;
  AdminKey admin_key_;
  // Set when the server stops, so that a database that does not answer delays it by seconds only.
  std::shared_ptr<postgres::Interruption> interruption_ =
      std::make_shared<postgres::Interruption>();
  std::function<std::vector<MetricSample>()> store_samples_;
  std::unique_ptr<NodeFile> node_file_;  // Null if the store is embedded. Outlives the node.
  std::unique_ptr<Node> node_;
  api::Router router_;
  api::Router monitoring_router_;
  std::shared_ptr<api::ApiControl> api_;
  std::unique_ptr<Listeners> listeners_;

  asio::io_context main_io_;
  asio::signal_set signals_{main_io_, SIGTERM, SIGINT};
  asio::signal_set reload_signals_{main_io_, SIGHUP};
  asio::steady_timer deadline_{main_io_};
  asio::steady_timer clock_timer_{main_io_};
  bool clock_written_ = true;                                 // The last write succeeded.
  const std::unique_ptr<Clock> clock_ = make_system_clock();  // Lives longer than the node's.
  const MonoTime begun_at_ = clock_->now().mono;
  MonoTime stopping_at_ = begun_at_;
};

FittedLimits RunningServer::fitted(const config::Config& config) const {
  FittedLimits limits = fit_limits(config, std::thread::hardware_concurrency(), descriptors_);
  if (limits.is_lowered) {
    spdlog::warn(describe(limits, descriptors_));
  }
  return limits;
}

Result<NodeParts> RunningServer::open_parts(const StoreOptions& store, const FittedLimits& limits) {
  POSTRIDER_TRY(OpenedStore opened, open_store(config_, store));
  NodeParts parts{.store = std::move(opened.store),
                  .readers = std::move(opened.readers),
                  .clock = make_system_clock(read_clock_file(clock_file())),
                  .make_transport = transport_maker(limits),
                  .make_sign = make_sign,
                  .make_schema_check = make_schema_check};
  POSTRIDER_TRY(parts.archive, open_archive(config_.retention));
  parts.archive_line = api::write_archive_line;
  parts.store_check = std::move(opened.check);
  parts.cluster = std::move(opened.cluster);
  store_samples_ = std::move(opened.samples);
  parts.mailer = make_mailer(config_.smtp);
  if (!config_.tracing.endpoint.empty()) {
    parts.span_exporter = otlp::make_otlp_exporter(otlp_options(config_.tracing));
  }
  return parts;
}

Result<void> RunningServer::start() {
  POSTRIDER_TRY(const std::optional<std::string> tightened, make_private(config_.data));
  if (tightened) {
    spdlog::warn("data.tightened detail=\"{}\"", log_safe(*tightened));
  }
  descriptors_ = raise_descriptor_limit();
  const FittedLimits limits = fitted(config_);
  POSTRIDER_TRY(const std::shared_ptr<AesVault> vault, open_vault(config_.secrets));
  const NodeIdentity identity{.id = NodeId{UuidGenerator{random_seed()}.next(clock_->now().wall)},
                              .pool = config_.cluster.pool,
                              .address = node_address(config_, boost::asio::ip::host_name())};
  if (!config_.store.reveal().empty()) {
    POSTRIDER_TRY(node_file_, open_node_file(config_.data, identity.id, boot_id()));
  }
  POSTRIDER_TRY(NodeParts parts,
                open_parts({.accept_data_loss = options_.accept_data_loss,
                            .vault = vault,
                            .interruption = interruption_,
                            .now = clock_->now().wall,
                            .readers = reader_count,
                            .identity = identity,
                            .predecessor = node_file_ ? node_file_->predecessor() : std::nullopt},
                           limits));
  if (vault) {
    parts.reload_keys = [secrets = config_.secrets, vault] {
      return reload_vault(*vault, secrets);
    };
  }
  POSTRIDER_TRY(const std::string store_id, parts.store.source_rows->store_id());
  const WallTime opened_at = parts.clock->now().wall;
  POSTRIDER_CHECK(record_incident(parts.store, new_alert_id(opened_at), opened_at));
  POSTRIDER_TRY(const RegistryContents registry, parts.store.registry->load());
  admin_key_ = choose_admin_key(config_.admin_key, registry.keys, parts.clock->now().wall);
  POSTRIDER_TRY(NotificationOptions notifications, notification_options(config_));
  UuidGenerator channel_ids{random_seed()};
  POSTRIDER_CHECK(with_catalog_locked(parts.store, [&]() -> Result<void> {
    const WallTime now = parts.clock->now().wall;
    POSTRIDER_CHECK(add_missing_event_types(*parts.store.event_types, config_.event_types, now));
    return store_configured_channels(parts.store, config_,
                                     {.crypto = openssl_crypto(), .ids = channel_ids, .now = now});
  }));
  POSTRIDER_TRY(
      node_, make_node(node_options(limits, identity, std::move(notifications)), std::move(parts),
                       {.key = admin_key_.to_store, .link = admin_key_.link}));
  POSTRIDER_CHECK(listen(limits, store_id));
  node_->start();
  announce();
  spdlog::info("server.ready address={} duration_ms={}", listeners_->url(),
               since(begun_at_).count());
  flush_log();
  warn_about_keys(config_);
  return {};
}

NodeOptions RunningServer::node_options(const FittedLimits& limits, const NodeIdentity& identity,
                                        NotificationOptions notifications) const {
  return {.worker_count = limits.config.io_threads,
          .seed = random_seed(),
          .url_policy = url_policy(config_),
          .user_agent = user_agent(config_),
          .pool_id = pool_id(config_),
          .shard = shard_options(limits.config),
          .retention = retention_options(config_.retention),
          .alerts = alert_limits(config_.alerts),
          .check_rows_per_second = config_.check_rows_per_second,
          .webhooks_per_tenant_max = webhooks_per_tenant_max(config_),
          .notifications = std::move(notifications),
          .tracing = tracing_options(config_.tracing),
          .lease = lease_options(identity, config_.cluster.lease)};
}

Result<void> RunningServer::listen(const FittedLimits& limits, const std::string& store_id) {
  api_ = api::add_routes(router_, node_->service(), current_api_options());
  api::add_monitoring_routes(monitoring_router_, node_->service(), api_);
  // Before the listeners are open: only a running node can close them.
  POSTRIDER_TRY(std::vector<SourceParts> sources, make_sources(config_, *node_, api_, store_id));
  listeners_ = std::make_unique<Listeners>(*node_, router_, monitoring_router_,
                                           api::make_head_recheck(router_, node_->service(), api_));
  POSTRIDER_CHECK(listeners_->open(limits.config));
  spdlog::info("server.started version={} pid={} data=\"{}\"", cli::version(), ::getpid(),
               log_safe(shown_store(config_)));
  // The system may have chosen the port.
  config_.targets.addresses.own = listeners_->endpoint();
  apply_targets();
  node_->set_sources(std::move(sources));
  node_->add_samples(
      [this] { return listeners_ ? listeners_->samples() : std::vector<MetricSample>{}; });
  node_->add_samples([api = api_] { return api->meters().samples(); });
  node_->add_samples(server_samples);
  node_->add_samples(store_samples_);
  return {};
}

std::string RunningServer::sign_in_link() const {
  if (!admin_key_.link_token) {
    return {};
  }
  std::string origin = config_.public_url.empty() ? listeners_->url() : config_.public_url;
  if (origin.ends_with('/')) {
    origin.pop_back();
  }
  return api::link_url(origin, *admin_key_.link_token).reveal();
}

void RunningServer::announce() const {
  const Banner banner{
      .at = clock_->now().wall,
      .address = listeners_->url(),
      .data = shown_store(config_),
      .admin_key = admin_key_.to_show ? admin_key_.to_show->reveal() : std::string{},
      .sign_in_url = sign_in_link()};
  const bool json = options_.json || config_.log_format == config::LogFormat::json;
  fmt::print("{}", json ? to_json(banner) : to_text(banner));
  (void)std::fflush(stdout);
}

Millis RunningServer::since(MonoTime begun) const {
  return std::chrono::duration_cast<Millis>(clock_->now().mono - begun);
}

void RunningServer::write_clock_file_soon() {
  clock_timer_.expires_after(clock_file_period);
  clock_timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) {
      write_clock_file_now();
      write_clock_file_soon();
    }
  });
}

void RunningServer::write_clock_file_now() {
  const Moment now = node_->service().now();
  const Result<void> written =
      write_clock_file(clock_file(), {.wall = now.wall, .steady = now.steady});
  if (!written && std::exchange(clock_written_, false)) {
    spdlog::warn("clock.not_saved reason=\"{}\"", log_safe(written.error().message));
  }
  clock_written_ = written.has_value();
}

void RunningServer::run_until_signal() {
  signals_.async_wait([this](const boost::system::error_code& error, int signal) {
    if (!error) {
      drain(signal);
    }
  });
  wait_for_reload();
  write_clock_file_soon();
  main_io_.run();
  shut_down();
  spdlog::info("server.stopped duration_ms={} uptime_ms={}", since(stopping_at_).count(),
               since(begun_at_).count());
}

void RunningServer::wait_for_reload() {
  reload_signals_.async_wait([this](const boost::system::error_code& error, int) {
    if (!error) {
      reload();
      wait_for_reload();
    }
  });
}

/// All or nothing: everything that can fail comes before the first change.
void RunningServer::reload() {
  const Result<config::Loaded> wanted = options_.reload();
  if (!wanted) {
    spdlog::error("config.reload_refused reason=\"{}\"", log_safe(wanted.error().message));
    return;
  }
  const config::Changes changes = config::compare(config_, wanted->config);
  const config::Loaded reloaded = config::merge_reload(loaded_, *wanted);
  const config::Config& merged = reloaded.config;
  RetentionChange retention{
      .options = retention_options(merged.retention),
      .other_archive = merged.retention.archive_directory != config_.retention.archive_directory};
  const Result<void> changed = open_other_archive(merged, retention).and_then([&] {
    return listeners_->change(fitted(merged).config);
  });
  if (!changed) {
    spdlog::error("config.reload_refused reason=\"{}\"", log_safe(changed.error().message));
    return;
  }
  loaded_ = reloaded;
  config_.targets.addresses.own = listeners_->endpoint();
  apply_targets();
  node_->change_alert_limits(alert_limits(config_.alerts));
  node_->change_retention(std::move(retention));
  change_logging(config_);
  if (!changes.at_restart.empty()) {
    spdlog::warn("config.restart_needed settings=\"{}\"", fmt::join(changes.at_restart, " "));
  }
  spdlog::info("config.reloaded changed=\"{}\"", fmt::join(changes.now, " "));
  flush_log();
}

api::ApiOptions RunningServer::current_api_options() const {
  api::ApiOptions options = api_options(config_);
  options.dashboard = dashboard_;
  options.settings = settings_in_force(loaded_);
  return options;
}

void RunningServer::apply_targets() {
  api_->change(current_api_options());
  node_->change_url_policy(url_policy(config_));
}

void RunningServer::drain(int signal) {
  stopping_at_ = clock_->now().mono;
  spdlog::info("server.stopping signal={} deadline_ms={}", signal == SIGINT ? "SIGINT" : "SIGTERM",
               config_.drain_timeout.count());
  node_->drain([this] { asio::post(main_io_, [this] { end_drain(DrainEnd::finished); }); });
  deadline_.expires_after(config_.drain_timeout);
  deadline_.async_wait([this](const boost::system::error_code&) { end_drain(DrainEnd::deadline); });
  signals_.async_wait(
      [this](const boost::system::error_code&, int) { end_drain(DrainEnd::second_signal); });
}

void RunningServer::end_drain(DrainEnd how) {
  if (how != DrainEnd::finished && !main_io_.stopped()) {
    spdlog::warn("server.drain_cut_short reason={} next=\"what is in flight is sent again later\"",
                 how == DrainEnd::deadline ? "deadline" : "second_signal");
  }
  main_io_.stop();
}

void RunningServer::shut_down() {
  if (!node_) {
    return;
  }
  if (listeners_ && !listeners_->empty()) {
    listeners_->drain();
  }
  interruption_->set();
  node_->stop();
  write_clock_file_now();
  listeners_.reset();
  node_.reset();
}

}  // namespace

Result<std::unique_ptr<Server>> start_server(ServerOptions options) {
  try {
    auto server = std::make_unique<RunningServer>(std::move(options));
    POSTRIDER_CHECK(server->start());
    return server;
  } catch (const std::exception& error) {  // An event loop or a thread could not be made.
    return fail(Errc::unavailable, fmt::format("The server cannot start: {}.", error.what()));
  }
}

}  // namespace postrider
