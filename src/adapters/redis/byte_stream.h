// A TCP connection with deadlines, for bytes of TLS or of the plain protocol.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.h"

#include "adapters/redis/wake_up.h"

namespace postrider::redis {

/// What ends a wait besides the peer. All must outlive the call.
struct WaitLimits {
  const Timer& deadline;
  const Signal* interrupt = nullptr;  // nullptr: the wait cannot be interrupted.
};

/// One thread. Errors: unavailable.
class ByteStream {
 public:
  /// Tries every address of the host. The system's resolver limits the time to resolve its name.
  static Result<ByteStream> connect(const std::string& host, std::uint16_t port,
                                    const Timer& deadline);

  Result<void> write(std::string_view bytes, const Timer& deadline);

  /// Waits for bytes and returns how many were read, or 0 if the wait was interrupted.
  Result<std::size_t> read(char* to, std::size_t size, const WaitLimits& limits);

 private:
  explicit ByteStream(Descriptor socket) : socket_(std::move(socket)) {}

  Descriptor socket_;
};

}  // namespace postrider::redis
