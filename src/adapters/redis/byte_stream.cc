#include "adapters/redis/byte_stream.h"

#include <array>
#include <cerrno>
#include <memory>
#include <system_error>

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

namespace postrider::redis {
namespace {

enum class Wake : std::uint8_t { ready, passed, interrupted };

std::string reason(int error) { return std::system_category().message(error); }

tl::unexpected<Error> lost(std::string_view why) {
  return fail(Errc::unavailable, fmt::format("The connection to Redis was lost: {}.", why));
}

tl::unexpected<Error> no_answer() {
  return fail(Errc::unavailable, "Redis did not answer in time.");
}

Wake wait_for(int socket, short events, const WaitLimits& limits) {
  const int interrupt = limits.interrupt == nullptr ? -1 : limits.interrupt->descriptor();
  std::array<pollfd, 3> watched{
      {{socket, events, 0}, {limits.deadline.descriptor(), POLLIN, 0}, {interrupt, POLLIN, 0}}};
  while (::poll(watched.data(), watched.size(), -1) < 0) {
    // Only EINTR is possible here.
  }
  if (watched[0].revents != 0) {
    return Wake::ready;
  }
  return watched[2].revents != 0 ? Wake::interrupted : Wake::passed;
}

/// Returns 0 or the error.
int connect_to(int socket, const addrinfo& address, const Timer& deadline) {
  if (::connect(socket, address.ai_addr, address.ai_addrlen) == 0) {
    return 0;
  }
  if (errno != EINPROGRESS) {
    return errno;
  }
  if (wait_for(socket, POLLOUT, {deadline}) == Wake::passed) {
    return ETIMEDOUT;
  }
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

}  // namespace

Result<ByteStream> ByteStream::connect(const std::string& host, std::uint16_t port,
                                       const Timer& deadline) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failure = ::getaddrinfo(host.c_str(), fmt::format("{}", port).c_str(), &hints, &found);
  if (failure != 0) {
    return fail(Errc::unavailable,
                fmt::format("The host name `{}` of Redis cannot be resolved: {}.", host,
                            ::gai_strerror(failure)));
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> addresses{found, ::freeaddrinfo};
  int error = EHOSTUNREACH;
  for (const addrinfo* address = found; address != nullptr; address = address->ai_next) {
    Descriptor socket{::socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    error = socket.get() < 0 ? errno : connect_to(socket.get(), *address, deadline);
    if (error == 0) {
      const int on = 1;
      ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      return ByteStream{std::move(socket)};
    }
  }
  return fail(Errc::unavailable, fmt::format("Could not connect to Redis at `{}` port {}: {}.",
                                             host, port, reason(error)));
}

Result<void> ByteStream::write(std::string_view bytes, const Timer& deadline) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno != EAGAIN && errno != EINTR) {
      return lost(reason(errno));
    } else if (wait_for(socket_.get(), POLLOUT, {deadline}) == Wake::passed) {
      return no_answer();
    }
  }
  return {};
}

Result<std::size_t> ByteStream::read(char* to, std::size_t size, const WaitLimits& limits) {
  while (true) {
    const ssize_t count = ::recv(socket_.get(), to, size, 0);
    if (count > 0) {
      return static_cast<std::size_t>(count);
    }
    if (count == 0) {
      return lost("Redis closed it");
    }
    if (errno != EAGAIN && errno != EINTR) {
      return lost(reason(errno));
    }
    switch (wait_for(socket_.get(), POLLIN, limits)) {
      case Wake::ready:
        break;
      case Wake::interrupted:
        return 0;
      case Wake::passed:
        return no_answer();
    }
  }
}

}  // namespace postrider::redis
