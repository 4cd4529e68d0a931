#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/event_request.h"
#include "cli/http_client.h"
#include "cli/print.h"
#include "cli/version.h"

namespace postrider::cli {
namespace {

constexpr std::size_t data_bytes_max = 64ul * 1024 * 1024;  // The server's own limit is far below.

Result<std::string> read_all(std::FILE* file, const std::string& name) {
  std::string data;
  std::string block(64 * 1024, '\0');
  std::size_t bytes = 0;
  while ((bytes = std::fread(block.data(), 1, block.size(), file)) > 0) {
    data.append(block, 0, bytes);
    if (data.size() > data_bytes_max) {
      return fail(Errc::invalid, fmt::format("{} is larger than {} bytes.", name, data_bytes_max));
    }
  }
  if (std::ferror(file) != 0) {
    return fail(Errc::invalid, fmt::format("{} cannot be read.", name));
  }
  return data;
}

Result<std::string> read_data(const std::string& argument) {
  if (argument == "-") {
    return read_all(stdin, "Standard input");
  }
  if (!argument.starts_with('@')) {
    return argument;
  }
  const std::string name = argument.substr(1);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{std::fopen(name.c_str(), "rb"),
                                                             &std::fclose};
  if (file == nullptr) {
    return fail(Errc::invalid, fmt::format("`{}` cannot be opened.", name));
  }
  return read_all(file.get(), fmt::format("`{}`", name));
}

Result<ClientRequest> make_request(const SendOptions& options) {
  POSTRIDER_TRY(const std::string data, read_data(options.data));
  ClientRequest request{.server = options.server,
                        .method = "POST",
                        .path = "/v1/events",
                        .headers = {{"Content-Type", "application/json"},
                                    {"User-Agent", fmt::format("postrider/{}", version())}},
                        .body = {},
                        .timeout = options.timeout};
  POSTRIDER_TRY(request.body, event_body(options, data));
  if (!options.key.reveal().empty()) {
    request.headers.emplace_back("Authorization", "Bearer " + options.key.reveal());
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
  if (options.json) {
    print(response->body + "\n");
  } else if (accepted) {
    print(describe_answer(*response));
  } else {
    print_error("postrider: " + describe_answer(*response));
  }
  return accepted ? exit_ok : exit_failed;
}

}  // namespace postrider::cli
