// Bodies that are written piece by piece: their framing, and noticing that nobody reads on.
#pragma once

#include <string>
#include <string_view>

namespace postrider::api {

/// One piece of a body as it goes over the wire. An empty piece is the end.
[[nodiscard]] std::string frame_piece(std::string_view piece, bool chunked);

/// Has the other side of this socket hung up? Only looks; never blocks, reads nothing away.
[[nodiscard]] bool has_hung_up(int socket);

}  // namespace postrider::api
