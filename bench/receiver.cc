// The benchmark's receiver: answers every POST with 200 and stores each webhook-id.
//
//   bench_receiver PORT     (0: any free port; prints the port)
//   GET /count -> "requests distinct_ids"      GET /ids -> every id, one per line
//
// Single-threaded, epoll. Serves both wrk and Postrider, so that they are measured with the same
// receiver.
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/http_stream.h"

namespace {

using postrider::bench::header_value;
using postrider::bench::Message;
using postrider::bench::next_message;

class Receiver {
 public:
  explicit Receiver(std::uint16_t port) : poll_(epoll_create1(0)) {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    const int on = 1;
    setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
        listen(listener_, 1024) != 0) {
      std::perror("bench_receiver: cannot listen");
      std::exit(2);
    }
    socklen_t length = sizeof address;
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length);
    fmt::print("{}\n", ntohs(address.sin_port));
    std::fflush(stdout);
    watch(listener_);
  }

  void run() {
    std::array<epoll_event, 256> events{};
    for (;;) {
      const int count = epoll_wait(poll_, events.data(), static_cast<int>(events.size()), -1);
      for (int i = 0; i < count; ++i) {
        const int socket = events[static_cast<std::size_t>(i)].data.fd;
        if (socket == listener_) {
          accept_all();
        } else {
          serve(socket);
        }
      }
    }
  }

 private:
  void watch(int socket) const {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = socket;
    epoll_ctl(poll_, EPOLL_CTL_ADD, socket, &event);
  }

  void accept_all() {
    for (;;) {
      const int accepted = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK);
      if (accepted < 0) {
        return;
      }
      const int on = 1;
      setsockopt(accepted, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      buffers_[accepted].clear();
      watch(accepted);
    }
  }

  void serve(int socket) {
    std::string& buffer = buffers_[socket];
    std::array<char, 65536> chunk{};
    const ssize_t got = read(socket, chunk.data(), chunk.size());
    if (got <= 0) {
      close(socket);
      buffers_.erase(socket);
      return;
    }
    buffer.append(chunk.data(), static_cast<std::size_t>(got));
    std::string answers;
    std::size_t used = 0;
    while (const auto message = next_message(std::string_view{buffer}.substr(used))) {
      answer(*message, answers);
      used += message->size;
    }
    buffer.erase(0, used);
    std::size_t sent = 0;
    while (sent < answers.size()) {  // Answers fit into the socket buffer, except /ids.
      const ssize_t wrote = write(socket, answers.data() + sent, answers.size() - sent);
      if (wrote > 0) {
        sent += static_cast<std::size_t>(wrote);
      }
    }
  }

  void answer(const Message& message, std::string& out) {
    if (message.head.starts_with("GET /count")) {
      respond(out, fmt::format("{} {}\n", requests_, ids_.size()));
    } else if (message.head.starts_with("GET /ids")) {
      std::string all;
      for (const std::string& id : ids_) {
        all.append(id).append(1, '\n');
      }
      respond(out, all);
    } else {
      ++requests_;
      const std::string_view id = header_value(message.head, "\r\nwebhook-id: ");
      if (!id.empty()) {
        ids_.emplace(id);
      }
      out += "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    }
  }

  static void respond(std::string& out, const std::string& body) {
    out += fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", body.size(), body);
  }

  int poll_;
  int listener_;
  std::unordered_map<int, std::string> buffers_;
  std::uint64_t requests_ = 0;
  std::unordered_set<std::string> ids_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: bench_receiver PORT\n");
    return 2;
  }
  Receiver{static_cast<std::uint16_t>(std::atoi(argv[1]))}.run();
}
