#include "api/json/json_body.h"

#include <boost/json/error.hpp>
#include <boost/json/parse.hpp>
#include <fmt/format.h>

#include "core/base/trim.h"
#include "core/net/header_rules.h"

#include "api/json/field_reader.h"
#include "api/json/query_reader.h"

namespace postrider::api {
namespace {

constexpr std::size_t lenient_depth_max = 256;  // The lenient parser recurses; bounds its stack.

bool is_plain_json(std::string_view content_type) {
  const std::size_t semicolon = content_type.find(';');
  if (!same_header(trim(content_type.substr(0, semicolon)), "application/json")) {
    return false;
  }
  if (semicolon == std::string_view::npos) {
    return true;
  }
  const std::string_view parameter = trim(content_type.substr(semicolon + 1));
  return parameter.empty() || same_header(parameter, "charset=utf-8") ||
         same_header(parameter, "charset=\"utf-8\"");
}

Problem wrong_media_type() {
  return {.status = 415,
          .code = "unsupported_media_type",
          .title = "The body's media type is not supported",
          .detail = "Send the body as `Content-Type: application/json` in UTF-8.",
          .errors = {}};
}

/// Replaces every escaped surrogate, paired or not, with another escape of the same length.
std::string without_surrogates(std::string_view text) {
  std::string copy{text};
  for (std::size_t at = 0; at + 3 < copy.size(); ++at) {
    if (copy[at] != '\\') {
      continue;
    }
    const bool leads_to_surrogate =
        copy[at + 1] == 'u' && (copy[at + 2] | 0x20) == 'd' &&
        std::string_view{"89abcdefABCDEF"}.find(copy[at + 3]) != std::string_view::npos;
    if (leads_to_surrogate) {
      copy[at + 2] = '0';
    }
    ++at;  // Skips the escaped character, which may be a backslash.
  }
  return copy;
}

/// True if a parser without the stricter rules accepts the text.
bool is_lenient_json(std::string_view text) {
  boost::json::parse_options options;
  options.max_depth = lenient_depth_max;
  options.allow_invalid_utf8 = true;
  boost::json::error_code error;
  const boost::json::value value = boost::json::parse(without_surrogates(text), error, {}, options);
  return !error || error == boost::json::error::too_deep;
}

}  // namespace

Parsed<void> check_media_type(const HttpRequest& request) {
  const std::optional<std::string_view> encoding = request.header("content-encoding");
  if (encoding && !same_header(*encoding, "identity")) {
    return tl::make_unexpected(Problem{.status = 415,
                                       .code = "unsupported_encoding",
                                       .title = "The body's encoding is not supported",
                                       .detail = "Send the body without a Content-Encoding header.",
                                       .errors = {}});
  }
  const std::optional<std::string_view> type = request.header("content-type");
  if (type && !is_plain_json(*type)) {
    return tl::make_unexpected(wrong_media_type());
  }
  return {};
}

Parsed<void> require_media_type(const HttpRequest& request) {
  if (!request.header("content-type")) {
    return tl::make_unexpected(wrong_media_type());
  }
  return check_media_type(request);
}

Problem json_problem(std::string_view text, const Error& error) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return {.status = 400,
            .code = "invalid_json",
            .title = "The body is not JSON",
            .detail = "The body is empty. Send JSON.",
            .errors = {}};
  }
  if (is_lenient_json(text)) {
    return {.status = 422,
            .code = "unacceptable_json",
            .title = "The JSON is not acceptable",
            .detail = error.message,
            .errors = {}};
  }
  return {.status = 400,
          .code = "invalid_json",
          .title = "The body is not JSON",
          .detail = error.message,
          .errors = {}};
}

Parsed<std::vector<JsonMember>> read_body(const HttpRequest& request) {
  POSTRIDER_CHECK(check_no_query(request));
  POSTRIDER_CHECK(check_media_type(request));
  if (request.body.size() > small_body_bytes_max) {
    return tl::make_unexpected(
        Problem{.status = 413,
                .code = "body_too_large",
                .title = "The body is too large",
                .detail = fmt::format("The body has {} bytes; the limit is {} bytes.",
                                      request.body.size(), small_body_bytes_max),
                .errors = {}});
  }
  Result<std::vector<JsonMember>> members = read_json_object(request.body);
  if (!members) {
    return tl::make_unexpected(json_problem(request.body, members.error()));
  }
  return *std::move(members);
}

Parsed<std::vector<JsonMember>> read_optional_body(const HttpRequest& request) {
  if (!request.body.empty()) {
    return read_body(request);
  }
  POSTRIDER_CHECK(check_no_query(request));
  return std::vector<JsonMember>{};
}

Parsed<void> check_no_parameters(const HttpRequest& request) {
  POSTRIDER_TRY(std::vector<JsonMember> members, read_optional_body(request));
  FieldErrors errors;
  ObjectReader reader{std::move(members), "", errors};
  reader.finish();
  if (!errors.empty()) {
    return tl::make_unexpected(errors.problem());
  }
  return {};
}

}  // namespace postrider::api
