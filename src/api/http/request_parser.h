// The request side of HTTP/1.1 without a socket: bytes in, a request or a refusal out.
//
// Beast's parser does the grammar; everything around it exists because that parser forgives what a
// proxy in front of us may read differently (request smuggling). Belongs to one connection.
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

class RequestParser {
 public:
  enum class Step : std::uint8_t {
    need_more,    // Everything given was used or must be given again with more behind it.
    header_done,  // Accepted so far; the body follows. Call advance() again.
    done,         // take_request() may be called.
    refused,      // problem() says why; the connection cannot be used any further.
  };
  struct Progress {
    Step step = Step::need_more;
    std::size_t consumed = 0;  // Drop that many bytes from the front of the input.
  };

  /// How the answer has to be framed.
  struct Manner {
    bool keep_alive = false;
    bool http_1_0 = false;
    bool is_head = false;  // The answer has a length and no body.
  };

  explicit RequestParser(RequestLimits limits);
  RequestParser(const RequestParser&) = delete;
  RequestParser& operator=(const RequestParser&) = delete;

  /// `input` is all that has arrived and was not consumed yet.
  [[nodiscard]] Progress advance(std::string_view input);

  /// The finished request. The parser is ready for the next one afterwards.
  [[nodiscard]] HttpRequest take_request();

  [[nodiscard]] const Problem& problem() const { return problem_; }

  /// Of the request whose first bytes were seen last, also when its header was refused.
  [[nodiscard]] const Manner& manner() const { return manner_; }

  /// Between header_done and done.
  [[nodiscard]] bool expects_continue() const { return expects_continue_; }
  [[nodiscard]] std::size_t body_bytes_expected() const { return body_bytes_expected_; }
  [[nodiscard]] std::size_t body_bytes_buffered() const { return request_.body.size(); }
  [[nodiscard]] bool header_is_done() const { return header_is_done_; }

  /// The id the client chose, once the header was read: empty when there is none or it is unfit.
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
  std::size_t wire_bytes_ = 0;           // Of the body, framing included.
  std::size_t body_bytes_expected_ = 0;  // 0 also when chunked.
  Manner manner_;
  bool header_is_done_ = false;
  bool expects_continue_ = false;
};

}  // namespace postrider::api
