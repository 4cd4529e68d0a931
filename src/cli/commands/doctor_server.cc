// The checks of `postrider doctor` on the server.
#include <algorithm>

#include <boost/json/parse.hpp>
#include <fmt/format.h>

#include "core/policy/retry.h"

#include "cli/client/http_client.h"
#include "cli/commands/doctor_checks.h"
#include "cli/text/json_text.h"
#include "cli/text/version.h"

namespace postrider::cli {
namespace {

using std::chrono::duration_cast;
using std::chrono::seconds;

constexpr seconds skew_ok_max{2};     // The header has whole seconds, and the response takes time.
constexpr seconds skew_warn_max{60};  // Receivers usually tolerate five minutes.

/// Sends no key: the server may be a stranger.
Result<ClientResponse> get_health(const Session& session) {
  return send_request({.server = session.connection().server,
                       .path = "/healthz",
                       .timeout = session.connection().timeout,
                       .asks_first = false});
}

Result<ClientResponse> get(const Session& session, const std::string& path) {
  ClientRequest request{
      .server = session.connection().server, .path = path, .timeout = session.connection().timeout};
  if (!session.connection().key.reveal().empty()) {
    request.headers.emplace_back("Authorization", "Bearer " + session.connection().key.reveal());
  }
  return send_request(request);
}

std::string member_of(const ClientResponse& response, std::string_view path) {
  boost::system::error_code error;
  const json::value body = json::parse(response.body, error);
  return error ? std::string{} : text_at(body, path);
}

/// Host names in the URLs of a page of webhooks, without IP addresses.
std::vector<std::string> hosts_in(const std::string& page) {
  constexpr std::size_t hosts_max = 3;  // A lookup can take seconds.
  constexpr UrlPolicy any{.allow_http = true, .addresses = {.allow_private = true}};
  std::vector<std::string> hosts;
  boost::system::error_code error;
  const json::value parsed = json::parse(page, error);
  const json::value* const list = error ? nullptr : member(parsed, "data");
  for (const json::value& webhook :
       list != nullptr && list->is_array() ? list->get_array() : json::array{}) {
    const Result<TargetUrl> url = parse_target_url(text_at(webhook, "url"), any);
    const bool is_name = url && !url->address;
    if (is_name && hosts.size() < hosts_max && std::ranges::find(hosts, url->host) == hosts.end()) {
      hosts.push_back(url->host);
    }
  }
  return hosts;
}

Finding judge_readiness(const Result<ClientResponse>& ready) {
  if (ready && ready->status == 200) {
    return {Grade::ok, "ready", "The store accepts writes.", {}};
  }
  return {Grade::fail, "ready", ready ? member_of(*ready, "detail") : ready.error().message,
          "See the log of the server. The disk may be full, the store may be failing, or the "
          "server may be stopping."};
}

Finding judge_key(const Result<ClientResponse>& answer) {
  if (answer && answer->status == 200) {
    return {Grade::ok, "key", "The key is valid.", {}};
  }
  if (answer && answer->status == 403) {
    return {Grade::warn, "key", "The key is valid but cannot read webhooks.",
            "Publishing may still work. Use an admin key to read webhooks and deliveries."};
  }
  return {Grade::fail, "key",
          answer ? fmt::format("The server answered {}.", answer->status) : answer.error().message,
          "Pass an API key of this server with --key or POSTRIDER_KEY."};
}

}  // namespace

std::string_view to_string(Grade grade) {
  switch (grade) {
    case Grade::ok:
      return "ok";
    case Grade::warn:
      return "warn";
    case Grade::fail:
      break;
  }
  return "fail";
}

Finding judge_clock(std::string_view date, WallTime now) {
  // Parses the date like a Retry-After relative to half a day ago, so that the difference can be
  // positive or negative.
  constexpr std::chrono::hours half_day{12};
  const std::optional<Millis> since = parse_retry_after(date, now - half_day);
  if (!since) {
    return {Grade::warn, "clock", "The response of the server has no valid Date header.",
            "Compare the clocks of both machines manually."};
  }
  const auto skew = duration_cast<seconds>(*since - half_day);
  const auto off = std::chrono::abs(skew);
  if (off <= skew_ok_max) {
    return {Grade::ok, "clock", "The server's clock agrees with this one.", {}};
  }
  return {off <= skew_warn_max ? Grade::warn : Grade::fail, "clock",
          fmt::format("The server's clock is {} s {} this one.", off.count(),
                      skew.count() > 0 ? "ahead of" : "behind"),
          "Synchronize both clocks (chrony, systemd-timesyncd). Signatures contain the time."};
}

Finding judge_version(std::string_view ours, std::string_view theirs) {
  if (theirs.empty()) {
    return {Grade::warn, "version", "The server does not report its version.",
            "It may be older than this program, or it may not be Postrider."};
  }
  if (ours == theirs) {
    return {Grade::ok, "version", fmt::format("Server and program have version {}.", ours), {}};
  }
  return {Grade::warn, "version",
          fmt::format("The server has version {}, this program {}.", theirs, ours),
          "Use the same version for both."};
}

ServerReport check_server(const Session& session) {
  const Result<ClientResponse> alive = get_health(session);
  if (!alive || alive->status != 200 || !is_postrider(*alive)) {
    const std::string seen =
        alive ? fmt::format("{} is not a Postrider server: it answered the health check with {}.",
                            session.connection().server.authority(), alive->status)
              : alive.error().message;
    return {
        .findings = {{Grade::fail, std::string{reachable_check}, seen,
                      "Start the server with `postrider serve`, or set its URL with --server or "
                      "POSTRIDER_SERVER."}},
        .webhook_hosts = {}};
  }
  const Result<ClientResponse> webhooks = get(session, "/v1/webhooks?limit=50");
  ServerReport report;
  report.findings = {{Grade::ok,
                      std::string{reachable_check},
                      fmt::format("{} answers.", session.connection().server.authority()),
                      {}},
                     judge_version(version(), member_of(*alive, "version")),
                     judge_readiness(get(session, "/readyz")),
                     judge_clock(alive->date, session.now()),
                     judge_key(webhooks)};
  if (webhooks && webhooks->status == 200) {
    report.webhook_hosts = hosts_in(webhooks->body);
  }
  return report;
}

}  // namespace postrider::cli
