#include "cli/client/session.h"

#include <algorithm>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "cli/client/http_client.h"
#include "cli/client/problem_text.h"
#include "cli/text/print.h"
#include "cli/text/version.h"

namespace postrider::cli {
namespace {

std::string target_of(const Call& call) {
  std::string target = call.path;
  char separator = '?';
  for (const auto& [name, value] : call.query) {
    target += fmt::format("{}{}={}", separator, path_part(name), path_part(value));
    separator = '&';
  }
  return target;
}

ClientRequest request_of(const Connection& connection, const Call& call) {
  ClientRequest request{.server = connection.server,
                        .method = call.method,
                        .path = target_of(call),
                        .headers = {{"User-Agent", fmt::format("postrider/{}", version())}},
                        .body = {},
                        .timeout = connection.timeout};
  if (call.body) {
    request.headers.emplace_back("Content-Type", "application/json");
    request.body = json::serialize(*call.body);
  }
  if (!connection.key.reveal().empty()) {
    request.headers.emplace_back("Authorization", "Bearer " + connection.key.reveal());
  }
  return request;
}

}  // namespace

Result<std::string> Session::exchange(const Call& call) const {
  Result<ClientResponse> response = send_request(request_of(connection_, call));
  if (!response) {
    const bool running = response.error().code != Errc::unavailable;
    return fail(response.error().code,
                fmt::format("{}\n{}Set its URL with --server or POSTRIDER_SERVER.",
                            response.error().message, running ? "" : "Is the server running? "));
  }
  if (response->status >= 200 && response->status <= 299) {
    return std::move(response->body);
  }
  if (connection_.json) {
    print(response->body + "\n");
  }
  return tl::make_unexpected(to_error(*response));
}

Result<json::value> Session::call(const Call& call) const {
  POSTRIDER_TRY(const std::string body, exchange(call));
  if (body.empty()) {
    return json::value{};
  }
  boost::system::error_code error;
  json::value answer = json::parse(body, error);
  if (error) {
    return fail(Errc::unavailable,
                "The response is not JSON.\nIs --server the URL of a Postrider server?");
  }
  return answer;
}

Result<void> Session::show(const Call& call, const Text& text) const {
  POSTRIDER_TRY(const std::string body, exchange(call));
  boost::system::error_code error;
  const json::value answer = body.empty() ? json::value{} : json::parse(body, error);
  // A response that the parser cannot read, such as an event with huge numbers, is printed
  // unchanged.
  const bool raw = connection_.json || error;
  print(raw ? body + (body.empty() ? "" : "\n") : text(answer));
  return {};
}

Result<void> Session::show_page(const Call& call, const std::vector<Column>& columns) const {
  return show(call,
              [&](const json::value& page) { return page_text(page, columns, table_style()); });
}

std::string path_part(std::string_view text) {
  const auto unreserved = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
  };
  std::string out;
  for (const char c : text) {
    if (unreserved(c)) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

}  // namespace postrider::cli
