#include "api/http/http_stream.h"

#include <cerrno>

#include <fmt/format.h>
#include <sys/socket.h>

namespace postrider::api {

std::string frame_piece(std::string_view piece, bool chunked) {
  if (!chunked) {
    return std::string{piece};  // Closing the connection ends the body.
  }
  if (piece.empty()) {
    return "0\r\n\r\n";
  }
  return fmt::format("{:x}\r\n{}\r\n", piece.size(), piece);
}

bool peer_has_closed(int socket) {
  char byte = 0;
  const ssize_t peeked = ::recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return peeked == 0 || (peeked < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

}  // namespace postrider::api
