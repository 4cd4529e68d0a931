// An HTTP/1.1 request parser without I/O: bytes in, a request or a refusal out.
//
// Beast parses the grammar. The additional checks exist because Beast accepts messages that a proxy
// in front of the server may interpret differently (request smuggling). Owned by one connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "api/http/http.h"
#include "api/http/problem.h"
#include "api/http/request_grammar.h"

namespace postrider::api {

struct RequestLimits {
  std::size_t header_bytes_max = 16ul * 1024;
  std::size_t headers_max = 100;
  std::size_t body_bytes_max = 1024ul * 1024;
};

/// The properties of a request that determine how its response is framed.
struct RequestTraits {
  bool keep_alive = false;
  bool http_1_0 = false;
  bool is_head = false;  // The response has a length but no body.
};

class RequestParser {
 public:
  enum class Step : std::uint8_t {
    need_more,    // Call advance() again with the bytes not consumed and more after them.
    header_done,  // The header is accepted and a body follows. Call advance() again.
    done,         // The request is complete. Call take_request().
    refused,      // See problem(). The connection cannot be used any further.
  };
  struct Progress {
    Step step = Step::need_more;
    std::size_t consumed = 0;  // Remove this many bytes from the front of the input.
  };

  explicit RequestParser(RequestLimits limits);
  RequestParser(const RequestParser&) = delete;
  RequestParser& operator=(const RequestParser&) = delete;

  /// `input` holds all bytes that have arrived and are not consumed yet.
  [[nodiscard]] Progress advance(std::string_view input);

  /// The request without its body. Valid between header_done and take_request().
  [[nodiscard]] HttpRequest& head() { return request_; }

  /// Lowers the limit of this request's body and allocates memory for it. Returns false, and
  /// refuses the request, if the body announced so far is larger. Call between header_done and
  /// done.
  [[nodiscard]] bool limit_body(std::size_t bytes_max);

  /// Returns the complete request and prepares the parser for the next one.
  [[nodiscard]] HttpRequest take_request();

  [[nodiscard]] const Problem& problem() const { return problem_; }

  /// The traits of the current or last request, even if its header was refused.
  [[nodiscard]] const RequestTraits& traits() const { return traits_; }

  /// Valid between header_done and done.
  [[nodiscard]] bool expects_continue() const { return expects_continue_; }
  [[nodiscard]] std::size_t body_bytes_expected() const { return body_bytes_expected_; }
  [[nodiscard]] std::size_t body_bytes_buffered() const { return request_.body.size(); }
  [[nodiscard]] bool header_is_done() const { return header_is_done_; }

  /// The X-Request-Id header. Empty if it is missing or not usable, or before the header is read.
  [[nodiscard]] std::string_view client_request_id() const;

 private:
  enum class Head : std::uint8_t { incomplete, complete, malformed };

  Progress advance_header(std::string_view input);
  Progress advance_body(std::string_view input);
  Head scan_head(std::string_view input);
  Step accept_header();
  Step refuse(Problem problem);
  void reset();

  RequestLimits limits_;
  HttpRequest request_;
  std::optional<RequestGrammar> grammar_;  // Writes into request_.
  Problem problem_;
  std::size_t scanned_ = 0;              // Bytes of the head that scan_head() has seen.
  std::size_t line_start_ = 0;           // Where the head's current line begins.
  std::size_t wire_bytes_ = 0;           // Of the body, including its framing.
  std::size_t body_bytes_expected_ = 0;  // 0 if the body is chunked.
  std::size_t body_bytes_max_ = 0;       // Of this request.
  RequestTraits traits_;
  bool header_is_done_ = false;
  bool expects_continue_ = false;
};

}  // namespace postrider::api
