// Measures how many requests per second one io thread can send: the transport against a trivial
// receiver on another thread.
//
//     transport_bench [requests] [concurrency] [body bytes]
//
// Prints the rate in wall time, and the client thread's CPU time per request, which other load does
// not affect.
#include <array>
#include <cstdlib>
#include <string>
#include <thread>
#include <unordered_map>

#include <arpa/inet.h>
#include <boost/asio/io_context.hpp>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/assert.h"

#include "adapters/asio_http/transport.h"
#include "adapters/system/system_clock.h"

namespace postrider {
namespace {

constexpr std::string_view response =
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nDate: Thu, 01 Jan 2026 00:00:00 GMT\r\n"
    "Content-Length: 2\r\n\r\nok";

/// Answers after every `request_bytes` bytes without parsing them, until the last client has
/// closed.
class BlindReceiver {
 public:
  explicit BlindReceiver(std::size_t request_bytes) : request_bytes_(request_bytes) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    POSTRIDER_ASSERT(::bind(listener_, generic, length) == 0);
    POSTRIDER_ASSERT(::listen(listener_, 1024) == 0);
    POSTRIDER_ASSERT(::getsockname(listener_, generic, &length) == 0);
    port_ = ntohs(address.sin_port);
    epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
    watch(listener_);
    thread_ = std::thread{[this] { run(); }};
  }
  BlindReceiver(const BlindReceiver&) = delete;
  BlindReceiver& operator=(const BlindReceiver&) = delete;
  ~BlindReceiver() {
    thread_.join();
    ::close(listener_);
    ::close(epoll_);
  }

  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  void watch(int fd) const {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    POSTRIDER_ASSERT(::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) == 0);
  }

  void run() {
    std::array<epoll_event, 256> events;
    do {
      const int count = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), -1);
      for (int number = 0; number < count; ++number) {
        const int fd = events[static_cast<std::size_t>(number)].data.fd;
        fd == listener_ ? accept() : serve(fd);
      }
    } while (!received_.empty());
  }

  void accept() {
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    received_[fd] = 0;
    watch(fd);
  }

  void serve(int fd) {
    static thread_local std::array<char, 64 * 1024> buffer;
    const ssize_t count = ::recv(fd, buffer.data(), buffer.size(), 0);
    if (count <= 0) {
      received_.erase(fd);
      ::close(fd);
      return;
    }
    std::size_t& received = received_[fd];
    received += static_cast<std::size_t>(count);
    for (; received >= request_bytes_; received -= request_bytes_) {
      ::send(fd, response.data(), response.size(), MSG_NOSIGNAL);
    }
  }

  std::size_t request_bytes_;
  int listener_ = -1;
  int epoll_ = -1;
  std::uint16_t port_ = 0;
  std::unordered_map<int, std::size_t> received_;
  std::thread thread_;
};

Micros cpu_time_of_this_thread() {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  const auto micros = [](const timeval& time) {
    return std::chrono::seconds{time.tv_sec} + Micros{time.tv_usec};
  };
  return micros(usage.ru_utime) + micros(usage.ru_stime);
}

std::string make_request(std::size_t body_bytes) {
  return fmt::format(
      "POST /hook HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: Postrider/bench\r\n"
      "Content-Type: application/json\r\nwebhook-id: evt_01jk0000000000000000000000\r\n"
      "webhook-timestamp: 1767225600\r\n"
      "webhook-signature: v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=\r\n"
      "Content-Length: {}\r\n\r\n{}",
      body_bytes, std::string(body_bytes, 'x'));
}

class Load {
 public:
  Load(Transport& transport, std::uint16_t port, std::string bytes, std::size_t total)
      : transport_(transport), left_(total) {
    request_.url.tls = false;
    request_.url.host = "127.0.0.1";
    request_.url.address = IpAddress::parse("127.0.0.1");
    request_.url.port = port;
    request_.bytes = std::move(bytes);
    request_.timeout = std::chrono::seconds{30};
  }

  void send_next() {
    if (left_ == 0) {
      return;
    }
    --left_;
    ++under_way_;
    transport_.send(request_, [this](const Outcome& outcome) {
      --under_way_;
      failed_ += outcome.http_status == 200 ? 0 : 1;
      send_next();
    });
  }

  [[nodiscard]] bool finished() const { return left_ == 0 && under_way_ == 0; }
  [[nodiscard]] std::size_t failed() const { return failed_; }

 private:
  Transport& transport_;
  OutboundRequest request_;
  std::size_t left_;
  std::size_t under_way_ = 0;
  std::size_t failed_ = 0;
};

void run(std::size_t total, std::size_t concurrency, std::size_t body_bytes) {
  const std::string bytes = make_request(body_bytes);
  const BlindReceiver receiver{bytes.size()};
  boost::asio::io_context io{1};
  const std::unique_ptr<Clock> clock = make_system_clock();
  TransportOptions options;
  options.addresses.allow_private = true;
  options.pool.idle_per_origin_max = concurrency;
  auto transport = make_asio_transport(io, options, *clock);
  POSTRIDER_ASSERT(transport.has_value());

  Load load{**transport, receiver.port(), bytes, total};
  const Moment start = clock->now();
  const Micros cpu_start = cpu_time_of_this_thread();
  for (std::size_t number = 0; number < concurrency; ++number) {
    load.send_next();
  }
  while (!load.finished()) {
    io.run_one();
  }
  const auto seconds = std::chrono::duration<double>(clock->now().mono - start.mono).count();
  const auto cpu = std::chrono::duration<double, std::micro>(cpu_time_of_this_thread() - cpu_start);
  const auto count = static_cast<double>(total);
  fmt::print(
      "{} requests of {} bytes, {} at a time, {} failed: {:.0f}/s; {:.2f} us of CPU each, "
      "that is {:.0f}/s of one core\n",
      total, bytes.size(), concurrency, load.failed(), count / seconds, cpu.count() / count,
      1e6 * count / cpu.count());
  transport->reset();
}

}  // namespace
}  // namespace postrider

int main(int argc, char** argv) {
  const auto argument = [&](int index, std::size_t otherwise) {
    return argc > index ? std::strtoul(argv[index], nullptr, 10) : otherwise;
  };
  postrider::run(argument(1, 500'000), argument(2, 64), argument(3, 1'024));
}
