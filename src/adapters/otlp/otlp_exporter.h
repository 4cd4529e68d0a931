// Exports spans to a collector with OTLP over HTTP, in JSON.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/secret.h"
#include "core/net/target_url.h"
#include "ports/span_exporter.h"

#include "adapters/otlp/otlp_json.h"

namespace postrider::otlp {

struct OtlpOptions {
  TargetUrl endpoint;  // With the path that spans are posted to.
  /// Added to each request, for example credentials.
  std::vector<std::pair<std::string, Secret<std::string>>> headers;
  Service service;
};

/// Opens a connection for each batch. Verifies TLS certificates against the system's authorities,
/// and the host name. Does not follow redirects and uses no proxy.
[[nodiscard]] std::unique_ptr<SpanExporter> make_otlp_exporter(OtlpOptions options);

}  // namespace postrider::otlp
