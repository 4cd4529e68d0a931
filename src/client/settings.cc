#include "client/settings.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "core/net/this_machine.h"

namespace postrider::client {
namespace {

constexpr std::size_t batch_events_limit = 1'000;  // Of the server.
constexpr Millis time_max = std::chrono::hours{24};

Result<void> check_time(std::string_view name, Millis time, Millis min) {
  if (time < min || time > time_max) {
    return fail(Errc::invalid,
                fmt::format("`{}` must be {} to {} ms.", name, min.count(), time_max.count()));
  }
  return {};
}

Result<void> check_times(const ClientOptions& options) {
  constexpr Millis none{0};
  constexpr Millis one{1};
  POSTRIDER_CHECK(check_time("batch_delay", options.batch_delay, none));
  POSTRIDER_CHECK(check_time("request_timeout", options.request_timeout, one));
  POSTRIDER_CHECK(check_time("retry_delay_min", options.retry_delay_min, one));
  POSTRIDER_CHECK(check_time("retry_delay_max", options.retry_delay_max, options.retry_delay_min));
  return check_time("close_timeout", options.close_timeout, none);
}

Result<void> check_sizes(const ClientOptions& options) {
  if (options.batch_events_max < 1 || options.batch_events_max > batch_events_limit) {
    return fail(Errc::invalid,
                fmt::format("`batch_events_max` must be 1 to {}.", batch_events_limit));
  }
  if (options.queue_events_max < 1 || options.queue_bytes_max < 1 || options.batch_bytes_max < 1) {
    return fail(Errc::invalid,
                "`queue_events_max`, `queue_bytes_max` and `batch_bytes_max` must be at least 1.");
  }
  return {};
}

/// A line break would add headers to the requests.
Result<void> check_key(std::string_view key) {
  const bool visible =
      std::ranges::all_of(key, [](char character) { return character > 0x20 && character < 0x7f; });
  if (key.empty() || !visible) {
    return fail(Errc::invalid, "`api_key` must be an API key of the server.");
  }
  return {};
}

Result<TargetUrl> read_server(const ClientOptions& options) {
  // The application chose the server, so private addresses are allowed.
  const UrlPolicy policy{.allow_http = true, .addresses = {.allow_private = true}};
  Result<TargetUrl> server = parse_target_url(options.url, policy);
  if (!server) {
    return fail(Errc::invalid, "`url` is not valid: " + server.error().message);
  }
  if (server->path_and_query.find('?') != std::string::npos) {
    return fail(Errc::invalid, "`url` must not have a query.");
  }
  if (!server->tls && !options.allow_insecure && !is_this_machine(*server)) {
    return fail(Errc::invalid,
                fmt::format("The API key would be sent to {} without TLS. Use an https:// URL, or "
                            "`allow_insecure` if the network is trusted.",
                            server->authority()));
  }
  return server;
}

}  // namespace

Result<ClientSettings> check_options(const ClientOptions& options) {
  POSTRIDER_TRY(TargetUrl server, read_server(options));
  POSTRIDER_CHECK(check_key(options.api_key));
  POSTRIDER_CHECK(check_sizes(options));
  POSTRIDER_CHECK(check_times(options));
  std::string prefix = server.path_and_query;
  while (prefix.ends_with('/')) {
    prefix.pop_back();
  }
  RequestHead head{.path_prefix = std::move(prefix),
                   .authority = server.authority(),
                   .api_key = options.api_key};
  return ClientSettings{
      .server = std::move(server),
      .head = std::move(head),
      .limits = {.events_max = options.queue_events_max,
                 .bytes_max = options.queue_bytes_max,
                 .batch_events_max = options.batch_events_max,
                 .batch_bytes_max = options.batch_bytes_max,
                 .batch_delay = options.batch_delay},
      .backoff = {.delay_min = options.retry_delay_min, .delay_max = options.retry_delay_max},
      .request_timeout = options.request_timeout,
      .close_timeout = options.close_timeout};
}

}  // namespace postrider::client
