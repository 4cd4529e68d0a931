// The process, its listener and the allowed targets of webhooks.
#include <algorithm>
#include <array>

#include "core/net/header_rules.h"

#include "config/settings.h"
#include "config/source_address.h"

namespace postrider::config {
namespace {

constexpr std::array<std::string_view, 6> log_levels = {"trace", "debug", "info",
                                                        "warn",  "error", "off"};

bool is_log_level(const std::string& text) {
  return std::ranges::find(log_levels, text) != log_levels.end();
}

bool is_path(const std::string& text) { return !text.empty() && text.size() <= 4096; }

bool is_user_agent(const std::string& text) { return text.size() <= 256 && is_header_value(text); }

bool is_public_url(const std::string& text) {
  constexpr std::string_view plain = "http://";
  constexpr std::string_view secure = "https://";
  if (text.empty()) {
    return true;
  }
  const bool is_plain = text.starts_with(plain);
  if (text.size() > 1024 || (!is_plain && !text.starts_with(secure))) {
    return false;
  }
  const std::string_view rest = std::string_view{text}.substr((is_plain ? plain : secure).size());
  const auto is_allowed = [](char c) {
    return 0x21 <= c && c <= 0x7e &&
           std::string_view{"?#@\\\"<>"}.find(c) == std::string_view::npos;
  };
  return !rest.empty() && rest.front() != '/' && rest.front() != ':' &&
         std::ranges::all_of(rest, is_allowed);
}

void add_targets(std::vector<Setting>& all) {
  all.push_back(boolean({"allow_http", "Allow webhook URLs with http://, without TLS."},
                        POSTRIDER_FIELD(targets.allow_http))
                    .on_reload());
  all.push_back(
      boolean(
          {"allow_private_targets",
           "Allow webhooks to private and loopback addresses, also over http. For development."},
          POSTRIDER_FIELD(targets.addresses.allow_private))
          .on_reload());
  all.push_back(cidrs({"allowed_target_cidrs", "Non-public addresses that webhooks may use."},
                      POSTRIDER_FIELD(targets.addresses.allowed))
                    .on_reload());
  all.push_back(cidrs({"denied_target_cidrs",
                       "Addresses that webhooks must not use; overrides every other setting."},
                      POSTRIDER_FIELD(targets.addresses.denied))
                    .on_reload());
  all.push_back(cidrs({"nat64_prefixes",
                       "NAT64 prefixes of this network. The IPv4 address inside such an IPv6 "
                       "address is checked."},
                      POSTRIDER_FIELD(targets.addresses.nat64))
                    .on_reload());
}

Setting store() {
  return {.key = "store",
          .kind = Kind::text,
          .help =
              "The PostgreSQL database that stores everything, such as "
              "postgres://user:password@host:5432/database; empty: the embedded store in the data "
              "directory. The password is never shown.",
          .rule = "must be empty or an address with postgres:// or postgresql://",
          .assign =
              [](Config& config, const Value& value) {
                const std::string& address = std::get<std::string>(value);
                if (!address.empty() && !is_source_address(SourceKind::outbox, address)) {
                  return false;
                }
                config.store = Secret{address};
                return true;
              },
          .read = [](const Config& config) -> Value {
            return config.store.reveal().empty() ? std::string{}
                                                 : shown_address(config.store.reveal());
          },
          .hides_value = true};
}

void add_log(std::vector<Setting>& all) {
  all.push_back(text({"log.level",
                      "The lowest level that is logged: trace, debug, info, warn, error or off."},
                     POSTRIDER_FIELD(log_level),
                     {"must be one of trace, debug, info, warn, error, off", is_log_level})
                    .on_reload());
  all.push_back(
      choice({"log.format",
              "text: lines of `time level=… message key=value`. json: one JSON object "
              "per line with the same fields, and nothing else on standard output and error."},
             POSTRIDER_FIELD(log_format), Words{std::string{"text, json"}, parse_log_format})
          .on_reload());
  all.push_back(
      choice({"log.access",
              "Which requests to the API have a log line `api.request`. all: every one; probes, "
              "scrapes of metrics and files of the dashboard at level debug. errors: only those "
              "with a status of 400 or more. off: none."},
             POSTRIDER_FIELD(log_access), Words{std::string{"all, errors, off"}, parse_log_access})
          .on_reload());
}

bool is_dns_server(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  const bool is_v6 = text.starts_with('[');  // An IPv6 address with a port is in brackets.
  const bool has_port =
      colon != std::string_view::npos && (is_v6 ? text[colon - 1] == ']' : text.find(':') == colon);
  std::string_view address = has_port ? text.substr(0, colon) : text;
  if (is_v6 && address.ends_with(']')) {
    address = address.substr(1, address.size() - 2);
  }
  const std::optional<Value> port =
      has_port ? parse_value(Kind::integer, text.substr(colon + 1)) : Value{std::int64_t{53}};
  return IpAddress::parse(address) && port && std::get<std::int64_t>(*port) >= 1 &&
         std::get<std::int64_t>(*port) <= 65'535;
}

Setting dns_servers() {
  return {
      .key = "dns.servers",
      .kind = Kind::texts,
      .help =
          "The DNS servers that resolve the hosts of webhooks; empty: the resolvers of the system.",
      .rule =
          "must be a list of at most 8 addresses such as 9.9.9.9, 127.0.0.1:5353 or "
          "[::1]:53",
      .assign =
          [](Config& config, const Value& value) {
            const Texts& servers = std::get<Texts>(value);
            if (servers.size() > 8 || !std::ranges::all_of(servers, is_dns_server)) {
              return false;
            }
            config.dns_servers = servers;
            return true;
          },
      .read = [](const Config& config) -> Value { return config.dns_servers; }};
}

void add_tls(std::vector<Setting>& all) {
  all.push_back(text({"tls.certificate",
                      "The PEM file with the listener's certificate and its chain; empty: plain "
                      "HTTP. SIGHUP reads it again."},
                     POSTRIDER_FIELD(tls.certificate))
                    .on_reload());
  all.push_back(
      text({"tls.key",
            "The PEM file with the private key of the certificate. SIGHUP reads it again."},
           POSTRIDER_FIELD(tls.key))
          .on_reload());
}

}  // namespace

std::vector<Setting> server_settings() {
  std::vector<Setting> all;
  all.push_back(text({"profile",
                      "The profile (set of defaults) to start from: exchange, platform, outbox, "
                      "workspace, tenant; empty: none."},
                     POSTRIDER_FIELD(profile)));
  all.push_back(text({"data", "The directory of the embedded store, and of files of this server."},
                     POSTRIDER_FIELD(data), {"must be the path of a directory", is_path}));
  all.push_back(store());
  all.push_back(text({"listen",
                      "The address of the API and the dashboard: ADDR:PORT or [ADDR6]:PORT; port 0 "
                      "picks a free port."},
                     POSTRIDER_FIELD(listen)));
  all.push_back(text({"metrics_listen",
                      "A second address, ADDR:PORT, that serves /metrics, /healthz and /readyz "
                      "to everybody, without TLS; empty: none."},
                     POSTRIDER_FIELD(metrics_listen)));
  all.push_back(integer(
      {"io_threads", "The number of io threads; 0: the number of cores minus one, at least one."},
      POSTRIDER_FIELD(io_threads), {0, 256}));
  all.push_back(integer({"drain_timeout_ms",
                         "How long a stopping server waits for running requests and attempts."},
                        POSTRIDER_FIELD(drain_timeout), {0, 3'600'000})
                    .on_reload());
  add_targets(all);
  all.push_back(
      text({"public_url",
            "The base URL of this server for users, such as https://hooks.example.com. "
            "Links begin with it. Empty: the scheme of the listener and the "
            "request's Host, which must then be an address of this server."},
           POSTRIDER_FIELD(public_url),
           {"must be an http or https URL without user, query and fragment", is_public_url})
          .on_reload());
  all.push_back(
      text({"user_agent", "The User-Agent of every delivery; empty: Postrider/<version>."},
           POSTRIDER_FIELD(user_agent),
           {"must be at most 256 visible ASCII characters", is_user_agent}));
  all.push_back(
      boolean({"lax_responses",
               "Accept a receiver's response whose status line and headers are complete, even if "
               "the connection ends before its body does. Otherwise the attempt fails."},
              POSTRIDER_FIELD(lax_responses)));
  add_log(all);
  all.push_back(dns_servers());
  all.push_back(boolean({"metrics.open",
                         "Whether /metrics needs no key for clients on this machine, if the server "
                         "listens on loopback only. All others need a key with scope read or "
                         "admin."},
                        POSTRIDER_FIELD(metrics_open))
                    .on_reload());
  all.push_back(integer({"store_check.rows_per_second",
                         "How many rows a second the background check of the store reads; damage "
                         "raises the alert `store_corrupt`. 0: no check."},
                        POSTRIDER_FIELD(check_rows_per_second), {0, 1'000'000}));
  all.push_back(boolean({"tenants.require_known",
                         "Refuse events and webhooks of tenants that are not registered."},
                        POSTRIDER_FIELD(require_known_tenants))
                    .on_reload());
  add_tls(all);
  return all;
}

}  // namespace postrider::config
