// The bytes of one answer on their way out. Belongs to one connection.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include <boost/asio/buffer.hpp>

#include "api/http/http.h"
#include "api/http/response_writer.h"

namespace postrider::api {

class AnswerBuffer {
 public:
  /// Both replace what was there.
  void fill(HttpResponse response, const ResponseFraming& framing);
  void fill(std::string piece);

  [[nodiscard]] bool empty() const { return written_bytes_ == output_.size() + large_body_.size(); }
  [[nodiscard]] std::array<boost::asio::const_buffer, 2> unwritten() const;
  void written(std::size_t bytes) { written_bytes_ += bytes; }

  /// Lets go of a large body once it is out.
  void release() {
    large_body_ = {};
    written_bytes_ = output_.size();
  }

 private:
  std::string output_;             // A response's head, and its body when that is small.
  std::string large_body_;         // Written behind output_ without being copied into it.
  std::size_t written_bytes_ = 0;  // Of both.
};

}  // namespace postrider::api
