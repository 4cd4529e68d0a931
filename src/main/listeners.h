// The HTTP listeners of a node: one per io thread, all on the same port.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/net/address.h"

#include "api/http/http_server.h"
#include "config/config.h"
#include "runtime/delivery/node.h"

namespace postrider {

/// Owned by the server. Main thread only unless noted. The node must outlive this object.
class Listeners {
 public:
  Listeners(Node& node, api::Handler handler);

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
  Result<void> check_port_is_free();

  Node& node_;
  api::Handler handler_;
  std::shared_ptr<api::AddressTally> tally_;
  std::vector<std::unique_ptr<api::HttpServer>> servers_;
  std::string address_;
  bool tls_ = false;
};

}  // namespace postrider
