// The bytes of one response and how many of them have been written. Owned by one connection.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include <boost/asio/buffer.hpp>

#include "api/http/http.h"
#include "api/http/response_writer.h"

namespace postrider::api {

class ResponseBuffer {
 public:
  /// Both replace the previous contents.
  void fill(HttpResponse response, const ResponseFraming& framing);
  void fill(std::string piece);

  [[nodiscard]] bool empty() const { return written_bytes_ == output_.size() + large_body_.size(); }
  [[nodiscard]] std::array<boost::asio::const_buffer, 2> unwritten() const;
  void written(std::size_t bytes) { written_bytes_ += bytes; }

  /// Frees a large body. Call when everything has been written.
  void release() {
    large_body_ = {};
    written_bytes_ = output_.size();
  }

 private:
  std::string output_;             // The head, followed by the body if that is small.
  std::string large_body_;         // Written after output_ without being copied into it.
  std::size_t written_bytes_ = 0;  // Of output_ and large_body_ together.
};

}  // namespace postrider::api
