#include "client/stream.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client/machine.h"

namespace postrider::client {
namespace {

constexpr std::size_t read_bytes = 64ul * 1024;

std::string system_text(int error) { return std::system_category().message(error); }

tl::unexpected<Error> broken(std::string_view what) {
  return fail(Errc::unavailable, fmt::format("The connection to the server failed: {}.", what));
}

/// The reason of OpenSSL's last error. Empties its queue.
std::string tls_text() {
  const unsigned long error = ERR_get_error();
  ERR_clear_error();
  const char* const reason = error != 0 ? ERR_reason_error_string(error) : nullptr;
  return reason != nullptr ? reason : "TLS failed";
}

struct AddressList {
  addrinfo* first = nullptr;
  ~AddressList() {
    if (first != nullptr) {
      freeaddrinfo(first);
    }
  }
};

/// Blocks for as long as the resolver of the system takes.
Result<void> resolve(const TargetUrl& server, AddressList& found) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  const std::string port = std::to_string(server.port);
  const int error = getaddrinfo(server.host.c_str(), port.c_str(), &hints, &found.first);
  if (error != 0) {
    return fail(Errc::unavailable,
                fmt::format("Cannot resolve {}: {}.", server.host, gai_strerror(error)));
  }
  return {};
}

int open_socket(const addrinfo& address) {
  const int descriptor = socket(
      address.ai_family, address.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, address.ai_protocol);
  if (descriptor >= 0) {
    const int on = 1;  // Requests are written whole: waiting for more bytes gains nothing.
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  return descriptor;
}

}  // namespace

Interrupter::Interrupter() : descriptor_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}

Interrupter::~Interrupter() {
  if (descriptor_ >= 0) {
    close(descriptor_);
  }
}

void Interrupter::interrupt() {
  const std::uint64_t one = 1;
  // Fails only if it was interrupted before.
  [[maybe_unused]] const ssize_t written = write(descriptor_, &one, sizeof one);
}

Result<TlsContext> make_tls_context(const std::string& ca_file) {
  TlsContext context{SSL_CTX_new(TLS_client_method()), SSL_CTX_free};
  if (!context) {
    return fail(Errc::invalid, fmt::format("Cannot set up TLS: {}.", tls_text()));
  }
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE);
  const int loaded = ca_file.empty()
                         ? SSL_CTX_set_default_verify_paths(context.get())
                         : SSL_CTX_load_verify_locations(context.get(), ca_file.c_str(), nullptr);
  if (loaded != 1) {
    return fail(Errc::invalid, fmt::format("Cannot read the certificate authorities in `{}`: {}.",
                                           ca_file, tls_text()));
  }
  return context;
}

Result<std::unique_ptr<Stream>> Stream::connect(const TargetUrl& server, const TlsContext& tls,
                                                const Interrupter& interrupter, MonoTime deadline) {
  AddressList found;
  POSTRIDER_CHECK(resolve(server, found));
  Error last{Errc::unavailable, fmt::format("{} has no address.", server.host)};
  for (const addrinfo* address = found.first; address != nullptr; address = address->ai_next) {
    const int descriptor = open_socket(*address);
    if (descriptor < 0) {
      last = broken(system_text(errno)).value();
      continue;
    }
    auto stream = std::make_unique<Stream>(descriptor, interrupter);
    if (::connect(descriptor, address->ai_addr, address->ai_addrlen) != 0 && errno != EINPROGRESS) {
      last = broken(system_text(errno)).value();
      continue;
    }
    if (const Result<void> connected = stream->finish_connecting(deadline); !connected) {
      last = connected.error();
      continue;
    }
    if (server.tls) {
      POSTRIDER_CHECK(stream->start_tls(server, tls, deadline));
    }
    return stream;
  }
  return tl::make_unexpected(std::move(last));
}

Stream::~Stream() {
  if (ssl_ != nullptr) {
    SSL_free(ssl_);
  }
  close(descriptor_);
}

Result<void> Stream::finish_connecting(MonoTime deadline) {
  POSTRIDER_CHECK(wait(POLLOUT, deadline));
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(descriptor_, SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) {
    return broken(system_text(error));
  }
  return {};
}

Result<void> Stream::start_tls(const TargetUrl& server, const TlsContext& tls, MonoTime deadline) {
  ssl_ = SSL_new(tls.get());
  if (ssl_ == nullptr || SSL_set_fd(ssl_, descriptor_) != 1) {
    return broken(tls_text());
  }
  const bool named =
      server.address ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl_), server.host.c_str()) == 1
                     : SSL_set1_host(ssl_, server.host.c_str()) == 1 &&
                           SSL_set_tlsext_host_name(ssl_, server.host.c_str()) == 1;
  if (!named) {
    return broken(tls_text());
  }
  for (;;) {
    const int returned = SSL_connect(ssl_);
    if (returned == 1) {
      return {};
    }
    const long verified = SSL_get_verify_result(ssl_);
    if (verified != X509_V_OK) {
      ERR_clear_error();
      return fail(Errc::unavailable,
                  fmt::format("The certificate of {} is not trusted: {}.", server.host,
                              X509_verify_cert_error_string(verified)));
    }
    POSTRIDER_CHECK(wait_for_tls(returned, deadline));
  }
}

Result<void> Stream::wait_for_tls(int returned, MonoTime deadline) {
  switch (SSL_get_error(ssl_, returned)) {
    case SSL_ERROR_WANT_READ:
      return wait(POLLIN, deadline);
    case SSL_ERROR_WANT_WRITE:
      return wait(POLLOUT, deadline);
    case SSL_ERROR_SYSCALL: {
      const int error = errno;
      ERR_clear_error();
      return broken(error != 0 ? system_text(error) : "it was closed");
    }
    default:
      return broken(tls_text());
  }
}

Result<void> Stream::wait(short events, MonoTime deadline) {
  pollfd polled[] = {{descriptor_, events, 0}, {interrupter_.descriptor(), POLLIN, 0}};
  for (;;) {
    const auto left = std::chrono::ceil<Millis>(deadline - mono_now());
    if (left <= Millis{0}) {
      return fail(Errc::unavailable, "The server did not answer in time.");
    }
    const auto timeout = static_cast<int>(std::min<std::int64_t>(left.count(), 60'000));
    if (poll(polled, 2, timeout) < 0 && errno != EINTR) {
      return broken(system_text(errno));
    }
    if (polled[1].revents != 0) {
      return fail(Errc::unavailable, "The client was closed.");
    }
    if (polled[0].revents != 0) {
      return {};
    }
  }
}

Result<void> Stream::write(std::string_view bytes, MonoTime deadline) {
  while (!bytes.empty()) {
    POSTRIDER_TRY(const std::size_t written,
                  ssl_ != nullptr ? write_tls(bytes, deadline) : write_plain(bytes, deadline));
    bytes.remove_prefix(written);
  }
  return {};
}

Result<std::size_t> Stream::write_tls(std::string_view bytes, MonoTime deadline) {
  std::size_t written = 0;
  const int returned = SSL_write_ex(ssl_, bytes.data(), bytes.size(), &written);
  if (returned != 1) {
    POSTRIDER_CHECK(wait_for_tls(returned, deadline));
  }
  return written;
}

Result<std::size_t> Stream::write_plain(std::string_view bytes, MonoTime deadline) {
  const ssize_t written = send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (written >= 0) {
    return static_cast<std::size_t>(written);
  }
  if (errno == EAGAIN) {
    POSTRIDER_CHECK(wait(POLLOUT, deadline));
  } else if (errno != EINTR) {
    return broken(system_text(errno));
  }
  return 0;
}

Result<std::string_view> Stream::read(MonoTime deadline) {
  buffer_.resize(read_bytes);
  for (;;) {
    if (ssl_ != nullptr) {
      std::size_t size = 0;
      const int returned = SSL_read_ex(ssl_, buffer_.data(), buffer_.size(), &size);
      if (returned == 1 || SSL_get_error(ssl_, returned) == SSL_ERROR_ZERO_RETURN) {
        return std::string_view{buffer_.data(), size};
      }
      POSTRIDER_CHECK(wait_for_tls(returned, deadline));
      continue;
    }
    const ssize_t size = recv(descriptor_, buffer_.data(), buffer_.size(), 0);
    if (size >= 0) {
      return std::string_view{buffer_.data(), static_cast<std::size_t>(size)};
    }
    if (errno == EAGAIN) {
      POSTRIDER_CHECK(wait(POLLIN, deadline));
    } else if (errno != EINTR) {
      return broken(system_text(errno));
    }
  }
}

}  // namespace postrider::client
