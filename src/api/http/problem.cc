#include "api/http/problem.h"

#include <algorithm>
#include <string>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "api/http/url_text.h"

namespace postrider::api {
namespace {

// A detail may quote a request header, which can contain any byte. JSON must be UTF-8.
std::string printable(std::string_view text) {
  std::string out{text};
  if (!is_utf8(out)) {
    const auto beyond_ascii = [](char c) { return static_cast<unsigned char>(c) >= 0x80; };
    std::ranges::replace_if(out, beyond_ascii, '?');
  }
  return out;
}

}  // namespace

HttpResponse render(const Problem& problem) {
  boost::json::object body;
  body["type"] = "urn:postrider:problem:" + problem.code;
  body["title"] = problem.title;
  body["status"] = problem.status;
  body["detail"] = printable(problem.detail);
  body["code"] = problem.code;
  if (!problem.errors.empty()) {
    boost::json::array errors;
    for (const FieldError& error : problem.errors) {
      errors.push_back({{"field", printable(error.field)}, {"message", printable(error.message)}});
    }
    body["errors"] = std::move(errors);
  }
  for (const auto& [name, text] : problem.members) {
    body[name] = printable(text);
  }

  HttpResponse response{.status = problem.status,
                        .content_type = "application/problem+json",
                        .headers = problem.headers,
                        .body = boost::json::serialize(body)};
  if (problem.status == 429 || problem.status == 503) {
    response.headers.emplace_back("Retry-After", std::to_string(problem.retry_after.count()));
  }
  return response;
}

Problem share_exceeded(const ShareOwner& owner, std::string_view what) {
  std::string name = describe(owner);
  name.front() = name.front() == 't' ? 'T' : name.front() == 'a' ? 'A' : name.front();
  return {.status = 429,
          .code = "share_exceeded",
          .title = "More than one share at once",
          .detail = fmt::format("{} {} Nobody may use more than a part of the server.", name, what),
          .errors = {}};
}

Problem to_problem(const Error& error) {
  switch (error.code) {
    case Errc::not_found:
      return {404, "not_found", "Not found", error.message, {}};
    case Errc::conflict:
      return {409, "conflict", "Conflict", error.message, {}};
    case Errc::invalid:
      return {422, "invalid", "The request is not valid", error.message, {}};
    case Errc::unavailable:
      return {503, "unavailable", "Temporarily unavailable", error.message, {}};
    case Errc::corrupt:
      break;
  }
  // The message may contain internals such as file paths, so a client does not see it.
  return {500,
          "internal_error",
          "Internal error",
          "The server found damaged data and cannot process the request. Contact its operator.",
          {}};
}

}  // namespace postrider::api
