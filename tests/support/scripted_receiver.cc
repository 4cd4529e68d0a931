#include "tests/support/scripted_receiver.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <arpa/inet.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/assert.h"

namespace postrider::test {
namespace {

constexpr std::chrono::seconds timeout{10};

sockaddr_storage to_sockaddr(const std::string& address, std::uint16_t port, socklen_t& length) {
  sockaddr_storage storage{};
  if (address.find(':') == std::string::npos) {
    auto* v4 = reinterpret_cast<sockaddr_in*>(&storage);
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    POSTRIDER_ASSERT(inet_pton(AF_INET, address.c_str(), &v4->sin_addr) == 1);
    length = sizeof(sockaddr_in);
  } else {
    auto* v6 = reinterpret_cast<sockaddr_in6*>(&storage);
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    POSTRIDER_ASSERT(inet_pton(AF_INET6, address.c_str(), &v6->sin6_addr) == 1);
    length = sizeof(sockaddr_in6);
  }
  return storage;
}

std::uint16_t bound_port(int fd) {
  sockaddr_storage storage{};
  socklen_t length = sizeof storage;
  POSTRIDER_ASSERT(getsockname(fd, reinterpret_cast<sockaddr*>(&storage), &length) == 0);
  return ntohs(storage.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6*>(&storage)->sin6_port
                   : reinterpret_cast<const sockaddr_in*>(&storage)->sin_port);
}

std::size_t content_length(std::string_view head) {
  constexpr std::string_view name = "content-length:";
  for (std::size_t at = head.find("\r\n"); at != std::string_view::npos;
       at = head.find("\r\n", at + 2)) {
    const std::string_view line = head.substr(at + 2, name.size());
    if (line.size() == name.size() && strncasecmp(line.data(), name.data(), name.size()) == 0) {
      return std::strtoul(head.data() + at + 2 + name.size(), nullptr, 10);
    }
  }
  return 0;
}

}  // namespace

// --- Peer ---

bool Peer::read_more(std::size_t bytes_max) {
  std::array<char, 16 * 1024> chunk;
  bytes_max = std::min(bytes_max, chunk.size());
  const ssize_t count = ssl_ != nullptr ? SSL_read(ssl_, chunk.data(), static_cast<int>(bytes_max))
                                        : ::recv(fd_, chunk.data(), bytes_max, 0);
  if (count <= 0) {
    return false;
  }
  buffer_.append(chunk.data(), static_cast<std::size_t>(count));
  return true;
}

std::optional<std::string> Peer::read_request() {
  std::size_t head_end = 0;
  while ((head_end = buffer_.find("\r\n\r\n")) == std::string::npos) {
    if (!read_more()) {
      return std::nullopt;
    }
  }
  const std::size_t length =
      head_end + 4 + content_length(std::string_view{buffer_}.substr(0, head_end));
  while (buffer_.size() < length) {
    if (!read_more()) {
      return std::nullopt;
    }
  }
  std::string request = buffer_.substr(0, length);
  buffer_.erase(0, length);
  {
    const std::lock_guard lock{receiver_.mutex_};
    receiver_.last_request_ = request;
  }
  ++receiver_.requests_;
  return request;
}

bool Peer::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ssl_ != nullptr
                              ? SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size()))
                              : ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) {
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

void Peer::wait_for_arrival() {
  int unacknowledged = 1;
  while (client_present() && ::ioctl(fd_, SIOCOUTQ, &unacknowledged) == 0 && unacknowledged > 0) {
    std::this_thread::yield();
  }
}

void Peer::write_slowly(std::string_view bytes, std::chrono::milliseconds pause) {
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    if (!write(bytes.substr(at, 1)) || !receiver_.pause(pause)) {
      return;
    }
  }
}

void Peer::read_slowly(std::chrono::milliseconds pause) {
  while (client_present() && read_more(1) && receiver_.pause(pause)) {
  }
}

void Peer::write_endlessly(std::string_view bytes) {
  constexpr std::size_t rounds_max = 10'000'000;
  for (std::size_t round = 0; round < rounds_max && write(bytes); ++round) {
  }
}

bool Peer::client_present() const {
  pollfd waiting{fd_, POLLRDHUP, 0};  // Not POLLIN: unread data does not mean that it is gone.
  return ::poll(&waiting, 1, 0) == 0;
}

void Peer::hold() {
  while (client_present() && receiver_.pause(std::chrono::milliseconds{5})) {
  }
}

bool Peer::drain() {
  errno = 0;
  while (read_more()) {
    buffer_.clear();
  }
  return errno != ECONNRESET;
}

void Peer::half_close() { ::shutdown(fd_, SHUT_WR); }

void Peer::reset() {
  const linger at_once{1, 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  // The RST is sent when the receiver closes the descriptor, after the script has returned.
}

std::string Peer::server_name() const {
  const char* name =
      ssl_ == nullptr ? nullptr : SSL_get_servername(ssl_, TLSEXT_NAMETYPE_host_name);
  return name == nullptr ? std::string{} : std::string{name};
}

// --- ScriptedReceiver ---

ScriptedReceiver::ScriptedReceiver(Script script, ReceiverOptions options)
    : script_(std::move(script)), options_(std::move(options)) {
  std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes without MSG_NOSIGNAL.
  socklen_t length = 0;
  const sockaddr_storage address = to_sockaddr(options_.address, options_.port, length);
  listener_ = ::socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  POSTRIDER_ASSERT(listener_ >= 0);
  const int on = 1;
  ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (options_.receive_buffer_bytes > 0) {
    ::setsockopt(listener_, SOL_SOCKET, SO_RCVBUF, &options_.receive_buffer_bytes, sizeof(int));
  }
  POSTRIDER_ASSERT(::bind(listener_, reinterpret_cast<const sockaddr*>(&address), length) == 0);
  POSTRIDER_ASSERT(::listen(listener_, 512) == 0);
  port_ = bound_port(listener_);
  acceptor_ = std::thread{[this] { accept_connections(); }};
}

ScriptedReceiver::~ScriptedReceiver() {
  {
    const std::lock_guard lock{mutex_};
    stopping_ = true;
    for (const int fd : open_) {
      ::shutdown(fd, SHUT_RDWR);
    }
  }
  changed_.notify_all();
  ::shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  for (std::thread& server : servers_) {  // The acceptor has ended, so nothing adds to it.
    server.join();
  }
  ::close(listener_);
}

ScriptedReceiver::Script ScriptedReceiver::answering(std::string response) {
  return [response = std::move(response)](Peer& peer) {
    while (peer.read_request() && peer.write(response)) {
    }
  };
}

std::string ScriptedReceiver::last_request() const {
  const std::lock_guard lock{mutex_};
  return last_request_;
}

bool ScriptedReceiver::wait_for_ended(std::size_t count) const {
  std::unique_lock lock{mutex_};
  return changed_.wait_for(lock, timeout, [&] { return ended_ >= count; });
}

void ScriptedReceiver::accept_connections() {
  for (;;) {
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) {
      return;
    }
    const std::lock_guard lock{mutex_};
    if (stopping_) {
      ::close(fd);
      return;
    }
    const std::size_t number = ++connections_;
    open_.push_back(fd);
    servers_.emplace_back([this, fd, number] { serve(fd, number); });
  }
}

void ScriptedReceiver::serve(int fd, std::size_t number) {
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  Peer peer{*this, fd, number};
  if (!options_.tls || handshake(peer)) {
    script_(peer);
  }
  if (peer.ssl_ != nullptr) {
    SSL_free(peer.ssl_);
  }
  const std::lock_guard lock{mutex_};
  std::erase(open_, fd);
  ::close(fd);
  ++ended_;
  changed_.notify_all();
}

bool ScriptedReceiver::handshake(Peer& peer) {
  peer.ssl_ = SSL_new(options_.tls.get());
  POSTRIDER_ASSERT(peer.ssl_ != nullptr);
  SSL_set_fd(peer.ssl_, peer.fd_);
  if (SSL_accept(peer.ssl_) != 1) {
    ++handshakes_failed_;
    return false;
  }
  return true;
}

bool ScriptedReceiver::pause(std::chrono::milliseconds duration) {
  std::unique_lock lock{mutex_};
  return !changed_.wait_for(lock, duration, [this] { return stopping_; });
}

}  // namespace postrider::test
