#include "cli/commands/connection_arguments.h"

namespace postrider::cli {
namespace {

constexpr int timeout_seconds_max = 3600;

}  // namespace

void ConnectionArguments::add_to(Syntax syntax) {
  syntax.option("--url URL", url_, "URL of the server; overrides POSTRIDER_URL")
      .show_default(default_url);
  syntax.option("--key KEY", key_, "API key; overrides POSTRIDER_KEY");
  syntax.option("--timeout SECONDS", timeout_seconds_, "Longest time to wait for a response")
      .range(1, timeout_seconds_max)
      .show_default();
  syntax.flag("--json", json_, "Print the response of the server as JSON");
}

Result<Connection> ConnectionArguments::finish(const Environment& environment) const {
  const std::string url = url_ ? *url_ : environment("POSTRIDER_URL").value_or(default_url);
  // The user chose the server, so http and private addresses are allowed.
  const UrlPolicy policy{.allow_http = true, .addresses = {.allow_private = true}};
  Result<TargetUrl> server = parse_target_url(url, policy);
  if (!server) {
    return fail(Errc::invalid, "Invalid server URL: " + server.error().message);
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
