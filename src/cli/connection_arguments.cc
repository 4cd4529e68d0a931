#include "cli/connection_arguments.h"

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>

namespace postrider::cli {
namespace {

constexpr std::uint32_t timeout_seconds_max = 3600;

}  // namespace

void ConnectionArguments::add_to(CLI::App& app) {
  app.add_option("--url", url_, "The server to talk to; else POSTRIDER_URL")
      ->option_text("URL")
      ->default_str(default_url);
  app.add_option("--key", key_, "An API key; else POSTRIDER_KEY")->option_text("KEY");
  app.add_option("--timeout", timeout_seconds_, "How long to wait for an answer")
      ->option_text("SECONDS")
      ->check(CLI::Range(1u, timeout_seconds_max))
      ->capture_default_str();
  app.add_flag("--json", json_, "Print the server's answer as it is");
}

Result<Connection> ConnectionArguments::finish(const Environment& environment) const {
  const std::string url = url_ ? *url_ : environment("POSTRIDER_URL").value_or(default_url);
  // Our own server may well be on this machine or in this network: an operator typed its address.
  const UrlPolicy policy{.allow_http = true, .addresses = {.allow_private = true}};
  Result<TargetUrl> server = parse_target_url(url, policy);
  if (!server) {
    return fail(Errc::invalid, "The server: " + server.error().message);
  }
  if (server->path_and_query.ends_with('/') && server->path_and_query.size() > 1) {
    server->path_and_query.pop_back();  // Every path of ours begins with a slash.
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
