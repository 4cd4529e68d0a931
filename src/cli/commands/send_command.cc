// `postrider send`: publishes one event.
#include <string>

#include <fmt/format.h>

#include "cli/client/event_request.h"
#include "cli/client/http_client.h"
#include "cli/commands/command_line.h"
#include "cli/commands/commands.h"
#include "cli/text/input.h"
#include "cli/text/print.h"
#include "cli/text/version.h"

namespace postrider::cli {
namespace {

Result<ClientRequest> make_request(const SendOptions& options) {
  POSTRIDER_TRY(const std::string data, read_argument(options.data));
  ClientRequest request{.server = options.connection.server,
                        .method = "POST",
                        .path = "/v1/events",
                        .headers = {{"Content-Type", "application/json"},
                                    {"User-Agent", fmt::format("postrider/{}", version())}},
                        .body = {},
                        .timeout = options.connection.timeout};
  POSTRIDER_TRY(request.body, event_body(options, data));
  if (!options.connection.key.reveal().empty()) {
    request.headers.emplace_back("Authorization", "Bearer " + options.connection.key.reveal());
  }
  return request;
}

}  // namespace

int run_send(const SendOptions& options) {
  const Result<ClientRequest> request = make_request(options);
  if (!request) {
    print_error(fmt::format("postrider: {}\n", request.error().message));
    return exit_usage;
  }
  const Result<ClientResponse> response = send_request(*request);
  if (!response) {
    print_error(fmt::format("postrider: {}\n", response.error().message));
    return exit_failed;
  }
  const bool accepted = response->status >= 200 && response->status <= 299;
  if (options.connection.json) {
    print(response->body + "\n");
  } else if (accepted) {
    print(describe_response(*response));
  } else {
    print_error("postrider: " + describe_response(*response));
  }
  return accepted ? exit_ok : exit_failed;
}

}  // namespace postrider::cli
