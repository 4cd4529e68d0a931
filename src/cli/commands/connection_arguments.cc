#include "cli/commands/connection_arguments.h"

#include <fmt/format.h>

#include "core/net/this_machine.h"

namespace postrider::cli {
namespace {

constexpr int timeout_seconds_max = 3600;

Result<std::string> choose_server(const std::optional<std::string>& flag,
                                  const Environment& environment) {
  if (flag) {
    return *flag;
  }
  if (std::optional<std::string> server = environment("POSTRIDER_SERVER")) {
    return *std::move(server);
  }
  if (environment("POSTRIDER_URL")) {
    return fail(Errc::invalid,
                "POSTRIDER_URL is not used any more. Name the server with POSTRIDER_SERVER.");
  }
  return default_server;
}

}  // namespace

void ConnectionArguments::add_to(Syntax syntax) {
  syntax.option("--server URL", server_, "URL of the server; overrides POSTRIDER_SERVER")
      .show_default(default_server);
  syntax.flag("--insecure", insecure_,
              "Allow a server on another machine without TLS; the API key can then be read on the "
              "network");
  syntax.option("--key KEY", key_, "API key; overrides POSTRIDER_KEY");
  syntax.option("--timeout SECONDS", timeout_seconds_, "Longest time to wait for a response")
      .range(1, timeout_seconds_max)
      .show_default();
  syntax.flag("--json", json_, "Print the response of the server as JSON");
}

Result<Connection> ConnectionArguments::finish(const Environment& environment) const {
  POSTRIDER_TRY(const std::string url, choose_server(server_, environment));
  // The user chose the server, so private addresses are allowed.
  const UrlPolicy policy{.allow_http = true, .addresses = {.allow_private = true}};
  Result<TargetUrl> server = parse_target_url(url, policy);
  if (!server) {
    return fail(Errc::invalid, "Invalid server URL: " + server.error().message);
  }
  if (!server->tls && !insecure_ && !is_this_machine(*server)) {
    return fail(Errc::invalid,
                fmt::format("The API key would be sent to {} without TLS. Use an https:// URL, or "
                            "--insecure if the network is trusted.",
                            server->authority()));
  }
  if (server->path_and_query.ends_with('/') && server->path_and_query.size() > 1) {
    server->path_and_query.pop_back();  // Request paths begin with a slash.
  }
  std::optional<std::string> key = key_;
  if (!key) {
    key = environment("POSTRIDER_KEY");
  }
  if (!key) {
    key = environment("POSTRIDER_ADMIN_KEY");
  }
  return Connection{.server = *std::move(server),
                    .key = Secret<std::string>{key.value_or("")},
                    .timeout = std::chrono::seconds{timeout_seconds_},
                    .json = json_};
}

}  // namespace postrider::cli
