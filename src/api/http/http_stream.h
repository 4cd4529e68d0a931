// Streamed response bodies: the framing of a piece, and detection of a disconnected client.
#pragma once

#include <string>
#include <string_view>

namespace postrider::api {

/// One piece of a body in its wire format. An empty piece ends the body.
[[nodiscard]] std::string frame_piece(std::string_view piece, bool chunked);

/// True if the peer has closed its side of the connection. Never blocks and consumes no bytes.
[[nodiscard]] bool peer_has_closed(int socket);

}  // namespace postrider::api
