// Beast's request parser, writing directly into an HttpRequest. Private to request_parser.cc.
#pragma once

#include <cstdint>
#include <string_view>

#include <boost/beast/http/basic_parser.hpp>

#include "api/http/http.h"

namespace postrider::api {

[[nodiscard]] constexpr char to_lower(char c) {
  return 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// The headers that decide about framing. The views point into the input of the put() call that
/// completed the header.
struct FramingHeaders {
  std::string_view target;
  std::string_view content_length;
  std::string_view transfer_encoding;
  std::string_view host;
  std::string_view expect;
  std::string_view content_encoding;
  unsigned content_length_count = 0;
  unsigned transfer_encoding_count = 0;
  unsigned host_count = 0;
  unsigned expect_count = 0;
  unsigned authorization_count = 0;
  int version = 11;  // 11 for HTTP/1.1, 10 for HTTP/1.0.
};

class RequestGrammar final : public boost::beast::http::basic_parser<true> {
 public:
  using ErrorCode = boost::beast::error_code;
  using BeastView = boost::beast::string_view;
  using Field = boost::beast::http::field;

  /// Writes into `request`, which must outlive this object.
  explicit RequestGrammar(HttpRequest& request) : request_(&request) {
    // RequestParser enforces the limits: Beast restarts its count with every line it has consumed.
    header_limit(UINT32_MAX);
    body_limit(boost::none);
    eager(false);
  }

  [[nodiscard]] const FramingHeaders& framing() const { return framing_; }

  /// The sum of the chunk sizes seen so far. Detects a body that is too large before it arrives.
  [[nodiscard]] std::uint64_t chunk_bytes_announced() const { return chunk_bytes_announced_; }

 private:
  static std::string_view view(BeastView text) { return {text.data(), text.size()}; }

  // NOLINTNEXTLINE(readability-function-size): Beast defines the parameters.
  void on_request_impl(boost::beast::http::verb, BeastView method, BeastView target, int version,
                       ErrorCode&) override {
    request_->method = view(method);
    framing_.target = view(target);
    framing_.version = version;
  }

  void on_response_impl(int, BeastView, int, ErrorCode&) override {}

  void on_field_impl(Field name, BeastView name_text, BeastView value, ErrorCode&) override {
    if (header_is_done_) {
      return;  // Trailers are ignored: they must not change what the header has decided.
    }
    record_framing(name, view(value));
    auto& header = request_->headers.emplace_back(view(name_text), view(value));
    for (char& c : header.first) {
      c = to_lower(c);
    }
  }

  void record_framing(Field name, std::string_view value) {
    switch (name) {
      case Field::content_length:
        framing_.content_length = value;
        ++framing_.content_length_count;
        break;
      case Field::transfer_encoding:
        framing_.transfer_encoding = value;
        ++framing_.transfer_encoding_count;
        break;
      case Field::host:
        framing_.host = value;
        ++framing_.host_count;
        break;
      case Field::expect:
        framing_.expect = value;
        ++framing_.expect_count;
        break;
      case Field::authorization:
        ++framing_.authorization_count;
        break;
      case Field::content_encoding:
        framing_.content_encoding = value;
        break;
      default:
        break;
    }
  }

  void on_header_impl(ErrorCode&) override { header_is_done_ = true; }
  void on_body_init_impl(const boost::optional<std::uint64_t>&, ErrorCode&) override {}

  std::size_t on_body_impl(BeastView body, ErrorCode&) override {
    request_->body.append(body.data(), body.size());
    return body.size();
  }

  void on_chunk_header_impl(std::uint64_t size, BeastView, ErrorCode&) override {
    const bool overflow = size > UINT64_MAX - chunk_bytes_announced_;
    chunk_bytes_announced_ = overflow ? UINT64_MAX : chunk_bytes_announced_ + size;
  }

  std::size_t on_chunk_body_impl(std::uint64_t, BeastView body, ErrorCode&) override {
    request_->body.append(body.data(), body.size());
    return body.size();
  }

  void on_finish_impl(ErrorCode&) override {}

  HttpRequest* request_;
  FramingHeaders framing_;
  std::uint64_t chunk_bytes_announced_ = 0;
  bool header_is_done_ = false;
};

}  // namespace postrider::api
