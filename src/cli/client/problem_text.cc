#include "cli/client/problem_text.h"

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <fmt/format.h>

#include "cli/text/json_text.h"

namespace postrider::cli {
namespace {

std::string_view advice(std::uint16_t status) {
  switch (status) {
    case 401:
      return "Pass an API key of this server with --key or POSTRIDER_KEY.";
    case 403:
      return "Use a key whose scope allows this request; `postrider keys list` shows the scopes.";
    case 404:
      return "Check the id. An older server may also lack this function.";
    case 409:
      return "Check the current state before you try again.";
    case 429:
    case 503:
      return "Nothing was changed. Try again later; `postrider doctor` checks the server.";
    default:
      return status >= 500 ? "See the log of the server." : "";
  }
}

Errc code_of(std::uint16_t status) {
  if (status == 404) {
    return Errc::not_found;
  }
  return status == 429 || status >= 500 ? Errc::unavailable : Errc::conflict;
}

std::string fields_of(const json::value& problem) {
  std::string text;
  const json::value* const errors = member(problem, "errors");
  if (errors == nullptr || !errors->is_array()) {
    return text;
  }
  for (const json::value& error : errors->get_array()) {
    text += fmt::format("\n  {}: {}", text_at(error, "field"), text_at(error, "message"));
  }
  return text;
}

}  // namespace

Error to_error(const ClientResponse& response) {
  boost::system::error_code error;
  const json::value problem = json::parse(response.body, error);
  const std::string detail = error ? "" : text_at(problem, "detail");
  std::string message =
      detail.empty() ? fmt::format("The server answered {} without a reason.", response.status)
                     : fmt::format("The server answered {}: {}", response.status, detail);
  if (!error) {
    message += fields_of(problem);
  }
  if (const std::string_view next = advice(response.status); !next.empty()) {
    message += fmt::format("\n{}", next);
  }
  return {code_of(response.status), std::move(message)};
}

}  // namespace postrider::cli
