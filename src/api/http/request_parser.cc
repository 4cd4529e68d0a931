#include "api/http/request_parser.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/base/assert.h"

#include "api/http/request_grammar.h"
#include "api/http/url_text.h"

namespace postrider::api {
namespace {

// Allocated in advance for a body. Small, because the client may never send what it announced.
constexpr std::size_t body_reserve_bytes_max = 64ul * 1024;
constexpr std::size_t request_id_chars_max = 128;
constexpr std::string_view known_methods = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";

Problem bad_request(std::string detail) {
  return {400, "bad_request", "Malformed HTTP request", std::move(detail), {}};
}

Problem header_too_large(const RequestLimits& limits) {
  return {431,
          "header_too_large",
          "Request header too large",
          fmt::format("The request line and headers must not exceed {} bytes and {} headers.",
                      limits.header_bytes_max, limits.headers_max),
          {}};
}

Problem body_too_large(std::size_t bytes_max) {
  return {413,
          "body_too_large",
          "Request body too large",
          fmt::format("The request body must not exceed {} bytes.", bytes_max),
          {}};
}

bool iequals(std::string_view a, std::string_view lower) {
  return std::ranges::equal(a, lower, {}, [](char c) { return to_lower(c); });
}

bool all_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return '0' <= c && c <= '9'; });
}

bool is_visible(char c) { return 0x21 <= c && c <= 0x7e; }

// Accepts any reg-name, IPv4 or bracketed IPv6 with an optional port. Not a full grammar: it only
// excludes characters that would be unsafe in a link.
bool is_host(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    return is_visible(c) && std::string_view{"/?#@\\,\"<>"}.find(c) == std::string_view::npos;
  });
}

std::optional<Problem> check_method(std::string_view method) {
  if (method != "CONNECT" && method != "TRACE") {
    return std::nullopt;
  }
  return Problem{405,
                 "method_not_allowed",
                 "Method not allowed",
                 fmt::format("{} is not supported. Use {}.", method, known_methods),
                 {}};
}

// Accepts only framing that every implementation interprets alike.
std::optional<Problem> check_framing(const FramingHeaders& framing) {
  if (framing.transfer_encoding_count + framing.content_length_count > 1) {
    return bad_request(
        "A request must have only one Content-Length or Transfer-Encoding header, and not both.");
  }
  if (framing.transfer_encoding_count == 1) {
    if (framing.version < 11 || !iequals(framing.transfer_encoding, "chunked")) {
      return bad_request("Transfer-Encoding must be `chunked` and requires HTTP/1.1.");
    }
  }
  if (framing.content_length_count == 1 && !all_digits(framing.content_length)) {
    return bad_request("Content-Length must be a decimal number.");
  }
  return std::nullopt;
}

std::optional<Problem> check_host(const FramingHeaders& framing) {
  const bool needed = framing.version >= 11;
  if (framing.host_count > 1 || (needed && framing.host_count == 0)) {
    return bad_request("A request must have exactly one Host header. Only HTTP/1.0 may omit it.");
  }
  if (!is_host(framing.host)) {
    return bad_request("The Host header must be a host name or address with an optional port.");
  }
  return std::nullopt;
}

// Of two, a proxy may have checked the other one.
std::optional<Problem> check_authorization(const FramingHeaders& framing) {
  if (framing.authorization_count > 1) {
    return bad_request("A request must not have more than one Authorization header.");
  }
  return std::nullopt;
}

std::optional<Problem> check_body_headers(const FramingHeaders& framing) {
  if (!framing.content_encoding.empty() && !iequals(framing.content_encoding, "identity")) {
    return Problem{415,
                   "unsupported_encoding",
                   "Unsupported content encoding",
                   "Compressed request bodies are not supported. Send the body without a "
                   "Content-Encoding header.",
                   {}};
  }
  if (framing.version >= 11 && framing.expect_count > 0 &&
      !iequals(framing.expect, "100-continue")) {
    return Problem{417,
                   "expectation_failed",
                   "Expectation failed",
                   "The only supported value of the Expect header is `100-continue`.",
                   {}};
  }
  return std::nullopt;
}

std::optional<Problem> check_header(const HttpRequest& request, const FramingHeaders& framing) {
  std::optional<Problem> problem = check_framing(framing);
  if (!problem) {
    problem = check_method(request.method);
  }
  if (!problem) {
    problem = check_host(framing);
  }
  if (!problem) {
    problem = check_authorization(framing);
  }
  if (!problem) {
    problem = check_body_headers(framing);
  }
  return problem;
}

Problem to_problem(const boost::beast::error_code& error, const FramingHeaders& framing) {
  using BeastError = boost::beast::http::error;
  // The header that Beast refused is not counted in `framing`.
  const bool is_first = framing.content_length_count + framing.transfer_encoding_count == 0;
  if (error == BeastError::bad_content_length && is_first) {
    return bad_request("Content-Length must be a decimal number.");
  }
  if (error == BeastError::bad_content_length || error == BeastError::multiple_content_length ||
      error == BeastError::bad_transfer_encoding) {
    return bad_request(
        "A request must have only one Content-Length or Transfer-Encoding header, and not both.");
  }
  if (error == BeastError::bad_version) {
    return bad_request("Only HTTP/1.1 and HTTP/1.0 are supported.");
  }
  if (error == BeastError::bad_chunk || error == BeastError::bad_chunk_extension) {
    return bad_request("The chunked body is malformed.");
  }
  return bad_request(fmt::format("The request cannot be read: {}.", error.message()));
}

}  // namespace

RequestParser::RequestParser(RequestLimits limits) : limits_(limits) { reset(); }

void RequestParser::reset() {
  request_ = {};
  request_.headers.reserve(8);
  grammar_.emplace(request_);  // A Beast parser cannot be reused.
  scanned_ = 0;
  line_start_ = 0;
  wire_bytes_ = 0;
  body_bytes_expected_ = 0;
  body_bytes_max_ = limits_.body_bytes_max;
  header_is_done_ = false;
  expects_continue_ = false;
}

RequestParser::Step RequestParser::refuse(Problem problem) {
  problem_ = std::move(problem);
  traits_.keep_alive = false;
  return Step::refused;
}

RequestParser::Progress RequestParser::advance(std::string_view input) {
  return header_is_done_ ? advance_body(input) : advance_header(input);
}

// Checks the raw bytes for errors that Beast repairs or ignores, and finds the end of the head, so
// that Beast gets the header in one piece. Each byte is scanned once, even if they arrive one by
// one.
RequestParser::Head RequestParser::scan_head(std::string_view input) {
  while (scanned_ < input.size()) {
    if (scanned_ == line_start_ && scanned_ > 0 &&
        (input[scanned_] == ' ' || input[scanned_] == '\t')) {
      return Head::malformed;  // Continuation line.
    }
    const std::size_t line_feed = input.find('\n', scanned_);
    if (line_feed == std::string_view::npos) {
      scanned_ = input.size();
      return Head::incomplete;
    }
    if (line_feed == line_start_ || input[line_feed - 1] != '\r') {
      return Head::malformed;
    }
    scanned_ = line_feed + 1;
    if (line_feed == line_start_ + 1) {
      return Head::complete;
    }
    line_start_ = scanned_;
  }
  return Head::incomplete;
}

RequestParser::Progress RequestParser::advance_header(std::string_view input) {
  if (input.empty()) {
    return {};
  }
  // Used by a refusal before the header is complete.
  traits_ = {.is_head = input.starts_with("HEAD ")};
  // Refuses a TLS handshake sent to a plain port immediately instead of after a timeout.
  if (!is_visible(input.front())) {
    return {refuse(bad_request("This is not an HTTP request.")), 0};
  }
  const Head head = scan_head(input.substr(0, limits_.header_bytes_max));
  if (head == Head::malformed) {
    return {refuse(bad_request("Header lines must end in CR LF and must not be folded.")), 0};
  }
  if (head == Head::incomplete) {
    const bool full = input.size() >= limits_.header_bytes_max;
    return {full ? refuse(header_too_large(limits_)) : Step::need_more, 0};
  }

  boost::beast::error_code error;
  const std::size_t consumed = grammar_->put({input.data(), scanned_}, error);
  if (error) {
    return {refuse(to_problem(error, grammar_->framing())), 0};
  }
  POSTRIDER_ASSERT(grammar_->is_header_done());
  POSTRIDER_ASSERT(consumed == scanned_);
  return {accept_header(), consumed};
}

RequestParser::Step RequestParser::accept_header() {
  const FramingHeaders& framing = grammar_->framing();
  header_is_done_ = true;
  traits_ = {.http_1_0 = framing.version < 11, .is_head = request_.method == "HEAD"};
  if (std::optional<Problem> problem = check_header(request_, framing)) {
    return refuse(*std::move(problem));
  }
  if (request_.headers.size() > limits_.headers_max) {
    return refuse(header_too_large(limits_));
  }
  Result<Target> target = parse_target(framing.target);
  if (!target) {
    return refuse(bad_request(target.error().message));
  }
  request_.path = std::move(target->path);
  request_.query = std::move(target->query);
  traits_.keep_alive = grammar_->keep_alive();
  if (grammar_->is_done()) {
    return Step::done;
  }

  if (!grammar_->chunked()) {
    const std::uint64_t length = grammar_->content_length().value_or(0);
    if (length > body_bytes_max_) {
      return refuse(body_too_large(body_bytes_max_));
    }
    body_bytes_expected_ = static_cast<std::size_t>(length);
  }
  expects_continue_ = framing.version >= 11 && framing.expect_count > 0;
  return Step::header_done;
}

RequestParser::Progress RequestParser::advance_body(std::string_view input) {
  std::size_t consumed = 0;
  while (consumed < input.size()) {
    boost::beast::error_code error;
    const std::string_view rest = input.substr(consumed);
    const std::size_t used = grammar_->put({rest.data(), rest.size()}, error);
    consumed += used;
    wire_bytes_ += used;
    if (error == boost::beast::http::error::need_more) {
      // Beast reads a chunk header, and the trailers, as a whole. The header limit applies to them.
      const bool full = rest.size() - used >= limits_.header_bytes_max;
      return {full ? refuse(header_too_large(limits_)) : Step::need_more, consumed};
    }
    if (error) {
      return {refuse(to_problem(error, grammar_->framing())), consumed};
    }
    // Bounds the overhead of many small chunks.
    const std::size_t wire_bytes_max = 2 * body_bytes_max_ + limits_.header_bytes_max;
    const bool too_large = grammar_->chunk_bytes_announced() > body_bytes_max_;
    if (too_large || wire_bytes_ > wire_bytes_max) {
      return {refuse(body_too_large(body_bytes_max_)), consumed};
    }
    if (grammar_->is_done()) {
      return {Step::done, consumed};
    }
  }
  return {Step::need_more, consumed};
}

bool RequestParser::limit_body(std::size_t bytes_max) {
  body_bytes_max_ = std::min(body_bytes_max_, bytes_max);
  const std::uint64_t announced =
      grammar_->chunked() ? grammar_->chunk_bytes_announced() : body_bytes_expected_;
  if (announced > body_bytes_max_) {
    (void)refuse(body_too_large(body_bytes_max_));
    return false;
  }
  request_.body.reserve(std::min(body_bytes_expected_, body_reserve_bytes_max));
  return true;
}

HttpRequest RequestParser::take_request() {
  POSTRIDER_ASSERT(grammar_->is_done());
  HttpRequest request = std::move(request_);
  reset();
  return request;
}

std::string_view RequestParser::client_request_id() const {
  const std::optional<std::string_view> id = request_.header("x-request-id");
  if (!id || id->size() > request_id_chars_max || !std::ranges::all_of(*id, is_visible)) {
    return {};
  }
  return *id;
}

}  // namespace postrider::api
