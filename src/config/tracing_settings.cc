// Traces for a collector of OpenTelemetry.
#include <algorithm>
#include <array>
#include <optional>

#include "core/base/letter_case.h"
#include "core/net/header_rules.h"

#include "config/settings.h"

namespace postrider::config {
namespace {

constexpr std::size_t headers_max = 16;
constexpr std::size_t header_bytes_max = 4096;

bool is_endpoint(const std::string& text) {
  return text.empty() || parse_collector_url(text).has_value();
}

bool is_service_name(const std::string& text) {
  return !text.empty() && text.size() <= 256 && is_header_value(text);
}

/// The headers that the exporter sets itself.
bool is_own_header(std::string_view name) {
  constexpr std::array<std::string_view, 6> own = {
      "connection", "content-length", "content-type", "host", "user-agent", "transfer-encoding"};
  return std::ranges::any_of(
      own, [name](std::string_view each) { return equals_ignoring_case(each, name); });
}

using Header = TracingConfig::Header;

/// Reads `Name=value`.
std::optional<Header> read_header(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || text.size() > header_bytes_max) {
    return std::nullopt;
  }
  const std::string_view name = text.substr(0, equals);
  const std::string_view value = text.substr(equals + 1);
  if (!is_header_name(name) || is_own_header(name) || !is_header_value(value)) {
    return std::nullopt;
  }
  return Header{name, Secret{std::string{value}}};
}

bool assign_headers(Config& config, const Value& value) {
  const Texts& texts = std::get<Texts>(value);
  std::vector<Header> headers;
  for (const std::string& text : texts) {
    std::optional<Header> header = read_header(text);
    if (!header) {
      return false;
    }
    headers.push_back(*std::move(header));
  }
  if (headers.size() > headers_max) {
    return false;
  }
  config.tracing.headers = std::move(headers);
  return true;
}

Value show_headers(const Config& config) {
  Texts shown;
  for (const Header& header : config.tracing.headers) {
    shown.push_back(fmt::format("{}={}", header.first, hidden_value));
  }
  return shown;
}

Setting headers() {
  return {.key = "tracing.headers",
          .kind = Kind::texts,
          .help =
              "Headers of each request to the collector, such as credentials. Their values are "
              "never shown.",
          .rule = fmt::format("must be a list of at most {} headers such as Authorization=Bearer "
                              "token",
                              headers_max),
          .assign = assign_headers,
          .read = show_headers,
          .hides_value = true};
}

}  // namespace

Result<TargetUrl> parse_collector_url(std::string_view text) {
  UrlPolicy policy{.allow_http = true};
  policy.addresses.allow_private = true;
  POSTRIDER_TRY(TargetUrl url, parse_target_url(text, policy));
  if (url.path_and_query == "/") {
    url.path_and_query = "/v1/traces";
  }
  return url;
}

std::vector<Setting> tracing_settings() {
  std::vector<Setting> all;
  all.push_back(
      text({"tracing.endpoint",
            "The collector that gets traces, with OTLP over HTTP in JSON, such as "
            "http://127.0.0.1:4318. Without a path, /v1/traces is appended. Empty: no traces are "
            "exported; the trace context of events is passed on in any case."},
           POSTRIDER_FIELD(tracing.endpoint), {"must be an http or https URL", is_endpoint}));
  all.push_back(headers());
  all.push_back(number({"tracing.sample_ratio",
                        "The share of the events without a trace context that are traced. It "
                        "depends on the trace id, so all servers choose the same. Failed attempts "
                        "and dead letters are always exported. The sampled flag of a trace context "
                        "takes precedence."},
                       POSTRIDER_FIELD(tracing.sample_ratio), {0, 1}));
  all.push_back(text({"tracing.service_name", "The name of this server in traces."},
                     POSTRIDER_FIELD(tracing.service_name),
                     {"must be 1 to 256 visible ASCII characters", is_service_name}));
  all.push_back(
      integer({"tracing.timeout_ms",
               "The longest time that the collector may take to accept a batch of spans."},
              POSTRIDER_FIELD(tracing.timeout), {100, 60'000}));
  return all;
}

}  // namespace postrider::config
