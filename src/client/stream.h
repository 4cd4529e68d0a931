// A TCP or TLS connection with a deadline for every call. Owned by one thread; errors are
// unavailable, with a sentence.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/base/time.h"
#include "core/net/target_url.h"

struct ssl_ctx_st;
struct ssl_st;

namespace postrider::client {

/// Makes waiting calls of a stream fail, now and later. `interrupt`: any thread.
class Interrupter {
 public:
  Interrupter();
  ~Interrupter();
  Interrupter(const Interrupter&) = delete;
  Interrupter& operator=(const Interrupter&) = delete;

  void interrupt();
  /// Readable after `interrupt`. -1 if the system had no descriptor left.
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

using TlsContext = std::shared_ptr<ssl_ctx_st>;
/// Trusts the certificate authorities of the PEM file, or those of the system if it is empty.
/// Fails with invalid.
[[nodiscard]] Result<TlsContext> make_tls_context(const std::string& ca_file);

class Stream {
 public:
  /// Connects to the first address of the server that accepts. With TLS, verifies the certificate
  /// and the host name. `tls` and `interrupter` must outlive this object.
  [[nodiscard]] static Result<std::unique_ptr<Stream>> connect(const TargetUrl& server,
                                                               const TlsContext& tls,
                                                               const Interrupter& interrupter,
                                                               MonoTime deadline);
  /// Owns the descriptor of a socket. For `connect`.
  Stream(int descriptor, const Interrupter& interrupter)
      : descriptor_(descriptor), interrupter_(interrupter) {}
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  [[nodiscard]] Result<void> write(std::string_view bytes, MonoTime deadline);
  /// Returns at least one byte, or none at the end of the connection.
  [[nodiscard]] Result<std::string_view> read(MonoTime deadline);

 private:
  Result<void> finish_connecting(MonoTime deadline);
  Result<void> start_tls(const TargetUrl& server, const TlsContext& tls, MonoTime deadline);
  /// Write as much as is possible at once, or wait and write nothing.
  Result<std::size_t> write_tls(std::string_view bytes, MonoTime deadline);
  Result<std::size_t> write_plain(std::string_view bytes, MonoTime deadline);
  /// Waits as an unfinished TLS call requires.
  Result<void> wait_for_tls(int returned, MonoTime deadline);
  Result<void> wait(short events, MonoTime deadline);

  int descriptor_;
  const Interrupter& interrupter_;
  ssl_st* ssl_ = nullptr;
  std::string buffer_;
};

}  // namespace postrider::client
