// TLS over a byte stream. OpenSSL works on memory, and the stream moves the bytes.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.h"

#include "adapters/redis/byte_stream.h"

namespace postrider::redis {

/// One thread. Errors: unavailable.
class TlsSession {
 public:
  /// Verifies the certificate and that it belongs to `host`. `ca_file`: PEM; empty: the system's
  /// authorities.
  static Result<std::unique_ptr<TlsSession>> start(ByteStream& stream, const std::string& host,
                                                   const std::string& ca_file,
                                                   const Timer& deadline);
  ~TlsSession();
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;

  /// As of ByteStream.
  Result<void> write(std::string_view bytes, const Timer& deadline);
  Result<std::size_t> read(char* to, std::size_t size, const WaitLimits& limits);

 private:
  struct State;
  explicit TlsSession(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace postrider::redis
