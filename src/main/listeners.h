// The HTTP listeners of a node: one per io thread, all on the same port, and one for monitoring if
// it has an address of its own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/net/address.h"

#include "api/http/http_server.h"
#include "api/http/router.h"
#include "config/config.h"
#include "main/access_log.h"
#include "runtime/delivery/node.h"

namespace postrider {

/// Owned by the server. Main thread only unless noted. The node and the routers must outlive this
/// object.
class Listeners {
 public:
  /// `monitoring` serves `metrics_listen`, if that is set. `recheck_head` may be empty.
  Listeners(Node& node, const api::Router& router, const api::Router& monitoring,
            api::HeadRecheck recheck_head);

  /// The error message is a sentence, for example that the address is in use or the certificate
  /// cannot be read.
  [[nodiscard]] Result<void> open(const config::Config& config);

  /// Applies new limits and reads the certificate again. Changes nothing on an error.
  [[nodiscard]] Result<void> change(const config::Config& config);

  /// Call after open(). Contains the actual port.
  [[nodiscard]] Endpoint endpoint() const;
  /// For example `https://127.0.0.1:8443`.
  [[nodiscard]] std::string url() const;

  /// Samples for the metrics page. Any thread.
  [[nodiscard]] std::vector<MetricSample> samples() const;

  /// Finishes open requests within two seconds and closes. Call while the io threads run.
  void drain();
  [[nodiscard]] bool empty() const { return servers_.empty(); }

 private:
  [[nodiscard]] Result<api::HttpServerOptions> options(const config::Config& config) const;
  [[nodiscard]] api::HttpServerOptions monitoring_options(const config::Config& config) const;
  Result<void> check_port_is_free(const std::string& address);
  Result<void> open_monitoring(const config::Config& config);

  struct Opened {
    boost::asio::io_context* io;
    std::unique_ptr<api::HttpServer> server;
    bool is_monitoring = false;
  };

  Node& node_;
  const api::Router& router_;
  const api::Router& monitoring_;
  api::HeadRecheck recheck_head_;
  std::shared_ptr<api::SharedShares> connection_shares_;
  std::shared_ptr<AccessLog> access_log_ = std::make_shared<AccessLog>();
  std::vector<Opened> servers_;  // That for monitoring, if any, is the last.
  std::string address_;
  bool tls_ = false;
};

}  // namespace postrider
