// The HTTP listeners of a node, one per io thread, on one port.
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

/// Owned by the server; used from the main thread. The node outlives it.
class Listeners {
 public:
  Listeners(Node& node, api::Handler handler);

  /// The error is a sentence: the address is taken, the certificate cannot be read.
  [[nodiscard]] Result<void> open(const config::Config& config);

  /// New limits and a freshly read certificate. On an error nothing has changed.
  [[nodiscard]] Result<void> change(const config::Config& config);

  /// Once open, with the port that was picked.
  [[nodiscard]] Endpoint endpoint() const;
  /// `https://127.0.0.1:8443`.
  [[nodiscard]] std::string url() const;

  /// For the metrics page; any thread.
  [[nodiscard]] std::vector<MetricSample> samples() const;

  /// Answers what is under way, at most for a moment, and closes. The io threads still run.
  void drain();
  /// After the io threads have ended.
  void clear() { servers_.clear(); }
  [[nodiscard]] bool empty() const { return servers_.empty(); }

 private:
  [[nodiscard]] Result<api::HttpServerOptions> options(const config::Config& config) const;
  Result<void> take_port_alone();

  Node& node_;
  api::Handler handler_;
  std::shared_ptr<api::AddressTally> tally_;
  std::vector<std::unique_ptr<api::HttpServer>> servers_;
  std::string address_;
  bool tls_ = false;
};

}  // namespace postrider
