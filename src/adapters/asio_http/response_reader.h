// An incremental parser for one HTTP/1.x response. Pure: no socket, no clock.
//
// Strict about everything that decides where a message ends, so that no other parser can disagree.
// A receiver can make it neither store nor read more than its limits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/model/attempt.h"

namespace postrider::asio_http {

constexpr std::size_t head_bytes_max = 16'384;     // Status lines, headers and trailers together.
constexpr std::size_t head_fields_max = 100;       // Similar to the limits of browsers and proxies.
constexpr std::size_t interim_responses_max = 16;  // 100, 102 and 103 before the final response.
constexpr std::size_t body_bytes_max = 65'536;     // The connection is closed if there is more.
constexpr std::size_t chunk_line_bytes_max = 1'024;
constexpr std::size_t field_name_bytes_kept = 64;
constexpr std::size_t field_value_bytes_kept = 256;

class ResponseReader {
 public:
  enum class Progress : std::uint8_t {
    more,      ///< Call feed() with the next bytes.
    complete,  ///< The response is complete.
    enough,    ///< Status and sample are known; the rest of the body is not read.
    failed,    ///< The response is invalid; see `error()`.
  };

  /// Reads the next bytes. Call again only after `more`.
  Progress feed(std::string_view bytes);

  /// True if the end of the connection completes the response.
  [[nodiscard]] bool complete_at_end() const { return part_ == Part::body_until_close; }

  /// What is missing of a body that is not complete: `5 of the 10 bytes of its body arrived`.
  [[nodiscard]] std::string missing() const;

  /// True from the first byte on, including bytes of an interim response.
  [[nodiscard]] bool started() const { return started_; }

  /// 0 until the head of the final response has been read.
  [[nodiscard]] std::uint16_t status() const { return head_complete_ ? status_ : std::uint16_t{0}; }

  /// True if the connection may carry another request.
  [[nodiscard]] bool connection_reusable() const {
    return reusable_ && progress_ == Progress::complete;
  }

  /// A sentence for the owner of the webhook. Only after `failed`.
  [[nodiscard]] std::string_view error() const { return error_; }

  [[nodiscard]] const std::optional<std::string>& retry_after() const { return retry_after_; }
  [[nodiscard]] Headers take_headers() { return std::move(headers_); }
  [[nodiscard]] std::string take_sample() { return std::move(sample_); }

 private:
  enum class Part : std::uint8_t {
    status_line,
    field_line,
    body_of_length,
    body_until_close,
    chunk_size_line,
    chunk_data,
    chunk_end_line,
    trailer_line,
  };
  using Text = std::string_view;

  std::size_t take_some(Text bytes);
  std::size_t take_line(Text bytes);
  std::size_t take_body(Text bytes);
  bool within_line_limits(std::size_t line_bytes);
  void read_line(Text line);
  void read_status_line(Text line);
  void read_field_line(Text line);
  void read_trailer_line(Text line);
  void read_chunk_size_line(Text line);
  bool split_field(Text line, Text& name, Text& value);
  void note_field(Text name, Text value);
  void note_content_length(Text value);
  void note_transfer_encoding(Text value);
  void end_head();
  void begin_final_body();
  void fail(Text sentence);
  [[nodiscard]] bool in_body() const { return part_ >= Part::body_of_length; }

  Part part_ = Part::status_line;
  Progress progress_ = Progress::more;
  bool started_ = false;
  bool head_complete_ = false;
  bool reusable_ = true;
  bool http_1_0_ = false;
  bool chunked_ = false;
  std::uint16_t status_ = 0;
  std::size_t interim_count_ = 0;
  std::size_t head_bytes_ = 0;
  std::size_t field_count_ = 0;
  std::size_t body_bytes_ = 0;   // As received, including chunk framing.
  std::uint64_t remaining_ = 0;  // Bytes left of the body or the chunk.
  std::optional<std::uint64_t> content_length_;
  std::optional<std::string> retry_after_;
  std::string line_;  // The beginning of an incomplete line.
  std::string_view error_;
  Headers headers_;
  std::string sample_;
};

}  // namespace postrider::asio_http
