// `postrider listen`: receives webhooks and prints them.
#include <csignal>
#include <memory>
#include <string>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <fmt/format.h>

#include "api/http/http_server.h"
#include "cli/client/webhook_receiver.h"
#include "cli/commands/command_line.h"
#include "cli/commands/commands.h"
#include "cli/text/print.h"

namespace postrider::cli {
namespace {

namespace asio = boost::asio;

std::string start_message(const ListenOptions& options, const asio::ip::tcp::endpoint& endpoint) {
  const asio::ip::address address = endpoint.address();
  const std::string host =
      address.is_v6() ? fmt::format("[{}]", address.to_string()) : address.to_string();
  if (options.json) {
    return fmt::format("{{\"listening\":\"http://{}:{}\"}}\n", host, endpoint.port());
  }
  const std::string_view checks = options.secrets.empty()
                                      ? "Signatures are not checked; use --secret to check them."
                                      : "Signatures are checked.";
  return fmt::format("Listening on http://{}:{}. {} Press Ctrl-C to stop.\n", host, endpoint.port(),
                     checks);
}

std::string summary(const ListenOptions& options, const WebhookReceiver& receiver) {
  if (options.json) {
    return fmt::format("{{\"received\":{},\"rejected\":{}}}\n", receiver.received(),
                       receiver.rejected());
  }
  return fmt::format("{} received, {} with an invalid signature.\n", receiver.received(),
                     receiver.rejected());
}

}  // namespace

int run_listen(const ListenOptions& options, const Ports& ports) {
  asio::io_context io{1};
  const bool colour = !options.json && ports.terminal.stdout_has_colour();
  std::unique_ptr<api::HttpServer> server;
  const auto finish = [&] { server->drain([&io] { io.stop(); }); };
  const auto show = [&](const ReceivedWebhook& webhook) {
    print(options.json ? to_json_line(webhook) : to_text(webhook, colour));
  };
  WebhookReceiver receiver{
      options, ports.clock, ports.crypto, {.received = show, .finished = finish}};

  api::HttpServerOptions server_options;
  server_options.reuse_port = false;  // Two receivers on one port would share the webhooks.
  server_options.now = [&ports] { return ports.clock.now(); };
  const auto handle = [&receiver](api::HttpRequest request) {
    return receiver.handle(std::move(request));
  };
  Result<std::unique_ptr<api::HttpServer>> listening =
      api::listen(io, options.listen_address, handle, std::move(server_options));
  if (!listening) {
    print_error(fmt::format("postrider: {}\n", listening.error().message));
    return exit_failed;
  }
  server = *std::move(listening);
  print(start_message(options, server->local_endpoint()));

  asio::signal_set signals{io, SIGINT, SIGTERM};
  signals.async_wait([&](boost::system::error_code error, int) {
    if (!error) {
      finish();
    }
  });
  io.run();
  server.reset();
  print(summary(options, receiver));
  return receiver.rejected() == 0 ? exit_ok : exit_failed;
}

}  // namespace postrider::cli
