// The process, its listener and its targets.
#include <algorithm>
#include <array>

#include "core/net/header_rules.h"

#include "config/settings.h"

namespace postrider::config {
namespace {

constexpr std::array<std::string_view, 6> log_levels = {"trace", "debug", "info",
                                                        "warn",  "error", "off"};

bool is_log_level(const std::string& text) {
  return std::ranges::find(log_levels, text) != log_levels.end();
}

bool is_path(const std::string& text) { return !text.empty() && text.size() <= 4096; }

bool is_user_agent(const std::string& text) { return text.size() <= 256 && is_header_value(text); }

void add_targets(std::vector<Setting>& all) {
  all.push_back(boolean({"allow_http", "Webhooks may use http://, without TLS."},
                        POSTRIDER_FIELD(targets.allow_http))
                    .on_reload());
  all.push_back(boolean({"allow_private_targets",
                         "Webhooks may point at private and loopback addresses, over http as "
                         "well. For development."},
                        POSTRIDER_FIELD(targets.addresses.allow_private))
                    .on_reload());
  all.push_back(cidrs({"allowed_target_cidrs",
                       "Addresses that webhooks may point at although they are not public."},
                      POSTRIDER_FIELD(targets.addresses.allowed))
                    .on_reload());
  all.push_back(cidrs({"denied_target_cidrs",
                       "Addresses that webhooks may not point at although they are public; wins "
                       "over everything else."},
                      POSTRIDER_FIELD(targets.addresses.denied))
                    .on_reload());
  all.push_back(cidrs({"nat64_prefixes",
                       "IPv6 prefixes of this network whose addresses stand for IPv4 ones; the "
                       "IPv4 address is judged."},
                      POSTRIDER_FIELD(targets.addresses.nat64))
                    .on_reload());
}

bool is_dns_server(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  const bool is_v6 = text.starts_with('[');  // In brackets, or it has no port.
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
  return {.key = "dns.servers",
          .kind = Kind::texts,
          .help = "Who resolves the names of webhooks; empty: the resolvers of the system.",
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

}  // namespace

std::vector<Setting> server_settings() {
  std::vector<Setting> all;
  all.push_back(text({"profile",
                      "Which set of defaults to start from: exchange, platform, outbox, "
                      "workspace, tenant; empty: none."},
                     POSTRIDER_FIELD(profile)));
  all.push_back(text({"data", "The directory of the embedded store."}, POSTRIDER_FIELD(data),
                     {"must be the name of a directory", is_path}));
  all.push_back(text({"listen",
                      "Where the API and the dashboard answer: ADDR:PORT or "
                      "[ADDR6]:PORT; port 0 picks one."},
                     POSTRIDER_FIELD(listen)));
  all.push_back(integer({"io_threads",
                         "Threads for network work; 0: one less than there are "
                         "cores, at least one."},
                        POSTRIDER_FIELD(io_threads), {0, 256}));
  all.push_back(integer({"drain_timeout_ms",
                         "How long a stopping server waits for what is under "
                         "way."},
                        POSTRIDER_FIELD(drain_timeout), {0, 3'600'000})
                    .on_reload());
  add_targets(all);
  all.push_back(text({"public_url",
                      "Where people reach this server, such as https://hooks.example.com; empty: "
                      "as the request names it."},
                     POSTRIDER_FIELD(public_url))
                    .on_reload());
  all.push_back(text({"user_agent", "Sent with every delivery; empty: Postrider/<version>."},
                     POSTRIDER_FIELD(user_agent),
                     {"must be at most 256 visible ASCII characters", is_user_agent}));
  all.push_back(text({"log.level",
                      "The least important lines to log: trace, debug, info, warn, "
                      "error or off."},
                     POSTRIDER_FIELD(log_level),
                     {"must be one of trace, debug, info, warn, error, off", is_log_level})
                    .on_reload());
  all.push_back(choice({"log.format",
                        "text: `time level=… message key=value`. json: one object a line with the "
                        "same fields."},
                       POSTRIDER_FIELD(log_format),
                       Words{std::string{"text, json"}, parse_log_format})
                    .on_reload());
  all.push_back(dns_servers());
  all.push_back(
      boolean({"metrics.open", "/metrics answers without a key."}, POSTRIDER_FIELD(metrics_open)));
  all.push_back(boolean({"tenants.require_known",
                         "Events and webhooks only for tenants that are registered."},
                        POSTRIDER_FIELD(require_known_tenants))
                    .on_reload());
  all.push_back(text({"tls.certificate",
                      "PEM file with the listener's certificate and its chain; "
                      "empty: plain HTTP. Read again on SIGHUP."},
                     POSTRIDER_FIELD(tls.certificate))
                    .on_reload());
  all.push_back(text({"tls.key",
                      "PEM file with the certificate's private key. Read again on "
                      "SIGHUP."},
                     POSTRIDER_FIELD(tls.key))
                    .on_reload());
  return all;
}

}  // namespace postrider::config
