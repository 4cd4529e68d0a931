// The HTTP/1.1 messages of a client: the bytes of a request, and a parser of its response. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "client/batch_answer.h"
#include "client/send_queue.h"

namespace postrider::client {

/// What is the same in every request.
struct RequestHead {
  std::string path_prefix;  // Of the server's URL: empty or `/path`.
  std::string authority;    // The Host header.
  std::string api_key;
};

/// A POST to /v1/events/batch in which each event is accepted or refused on its own.
[[nodiscard]] std::string batch_request(const RequestHead& head, const Batch& batch);

class ResponseParser {
 public:
  enum class Progress : std::uint8_t { more, complete, failed };

  /// Call again only after `more`.
  Progress feed(std::string_view bytes);
  /// The connection has ended. Completes a body without a length.
  Progress end();

  /// True from the first byte on.
  [[nodiscard]] bool started() const { return started_; }
  /// True if the connection may carry another request. Only after `complete`.
  [[nodiscard]] bool reusable() const { return reusable_; }
  [[nodiscard]] HttpAnswer take_answer() { return std::move(answer_); }

 private:
  enum class Part : std::uint8_t {
    head,
    body_of_length,
    body_until_end,
    chunk_size,
    chunk,
    trailer
  };

  Progress advance();
  Progress read_head();
  bool read_status_line(std::string_view line);
  bool read_field(std::string_view line);
  Progress read_body();
  Progress read_chunk_size();
  Progress read_chunk();
  Progress read_trailer();
  Progress finish();

  Part part_ = Part::head;
  std::string buffer_;  // Not yet read.
  HttpAnswer answer_;
  bool started_ = false;
  bool reusable_ = true;
  bool chunked_ = false;
  bool has_length_ = false;
  std::size_t remaining_ = 0;  // Of the body or the chunk.
  std::size_t trailer_bytes_ = 0;
};

}  // namespace postrider::client
