#include "api/http/response_buffer.h"

#include <algorithm>
#include <utility>

namespace postrider::api {
namespace {

namespace asio = boost::asio;

// What an idle connection keeps allocated. Small, because there may be ten thousand of them.
constexpr std::size_t kept_bytes_max = 16ul * 1024;
constexpr std::size_t copied_bytes_max = 8ul * 1024;  // Copying is cheaper than a second buffer.

}  // namespace

void ResponseBuffer::fill(HttpResponse response, const ResponseFraming& framing) {
  if (output_.capacity() > kept_bytes_max) {
    output_ = {};
  }
  output_.clear();
  large_body_.clear();
  written_bytes_ = 0;
  write_head(response, framing, output_);
  if (!has_body(response, framing)) {
    return;
  }
  if (response.body.size() <= copied_bytes_max) {
    output_ += response.body;
  } else {
    large_body_ = std::move(response.body);
  }
}

void ResponseBuffer::fill(std::string piece) {
  output_ = std::move(piece);
  large_body_.clear();
  written_bytes_ = 0;
}

std::array<asio::const_buffer, 2> ResponseBuffer::unwritten() const {
  const std::size_t output_written = std::min(written_bytes_, output_.size());
  return {asio::buffer(output_) + output_written,
          asio::buffer(large_body_) + (written_bytes_ - output_written)};
}

}  // namespace postrider::api
