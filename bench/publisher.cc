// The benchmark's publisher: posts COUNT events over CONNECTIONS keep-alive connections, one
// request in flight on each, and writes the id of every acknowledged event to a file.
//
//   bench_publisher PORT KEY COUNT CONNECTIONS BATCH IDS_FILE [TYPES]
//
// BATCH 1 uses POST /v1/events, more uses POST /v1/events/batch. With TYPES the requests take turns
// at the types bench.event0, bench.event1, …; without it the type is bench.event. Prints the
// seconds it took.
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/http_stream.h"

namespace {

using postrider::bench::next_message;

struct Options {
  std::uint16_t port = 0;
  std::string key;
  std::size_t count = 0;
  std::size_t connections = 0;
  std::size_t batch = 1;
  std::string ids_file;
  std::size_t types = 0;  // 0: one, without a number.
};

/// Returns one event of about 1 KiB.
std::string event_json(const std::string& type) {
  return fmt::format(R"({{"type":"{}","data":{{"filler":"{}"}}}})", type, std::string(960, 'x'));
}

std::string request_bytes(const Options& options, const std::string& type) {
  std::string body = event_json(type);
  if (options.batch > 1) {
    std::string events = R"({"events":[)";
    for (std::size_t i = 0; i < options.batch; ++i) {
      events.append(i == 0 ? "" : ",").append(event_json(type));
    }
    body = events + "]}";
  }
  return fmt::format(
      "POST /v1/events{} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {}\r\n"
      "Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{}",
      options.batch > 1 ? "/batch" : "", options.key, body.size(), body);
}

std::vector<std::string> requests_of(const Options& options) {
  if (options.types == 0) {
    return {request_bytes(options, "bench.event")};
  }
  std::vector<std::string> requests;
  for (std::size_t i = 0; i < options.types; ++i) {
    requests.push_back(request_bytes(options, fmt::format("bench.event{}", i)));
  }
  return requests;
}

class Publisher {
 public:
  explicit Publisher(const Options& options)
      : options_(options), requests_(requests_of(options)), poll_(epoll_create1(0)) {
    ids_ = std::fopen(options.ids_file.c_str(), "w");
    if (ids_ == nullptr) {
      std::perror("bench_publisher: cannot write the ids");
      std::exit(2);
    }
  }

  /// Returns false if an answer was not an acknowledgement.
  bool run() {
    for (std::size_t i = 0; i < options_.connections; ++i) {
      open_connection();
    }
    std::array<epoll_event, 256> events{};
    while (acknowledged_ < options_.count) {
      const int count = epoll_wait(poll_, events.data(), static_cast<int>(events.size()), 30'000);
      if (count <= 0) {
        fmt::print(stderr, "bench_publisher: no answer for 30 s\n");
        return false;
      }
      for (int i = 0; i < count; ++i) {
        if (!receive(events[static_cast<std::size_t>(i)].data.fd)) {
          return false;
        }
      }
    }
    std::fclose(ids_);
    return true;
  }

 private:
  void open_connection() {
    const int connection = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(options_.port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(connection, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      std::perror("bench_publisher: cannot connect");
      std::exit(2);
    }
    const int on = 1;
    setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = connection;
    epoll_ctl(poll_, EPOLL_CTL_ADD, connection, &event);
    if (buffers_.size() <= static_cast<std::size_t>(connection)) {
      buffers_.resize(static_cast<std::size_t>(connection) + 1);
    }
    send_next(connection);
  }

  void send_next(int connection) {
    if (sent_ >= options_.count) {
      return;
    }
    const std::string& request = requests_[(sent_ / options_.batch) % requests_.size()];
    sent_ += options_.batch;
    std::size_t written = 0;
    while (written < request.size()) {
      const ssize_t wrote = write(connection, request.data() + written, request.size() - written);
      if (wrote <= 0) {
        std::perror("bench_publisher: write");
        std::exit(2);
      }
      written += static_cast<std::size_t>(wrote);
    }
  }

  bool receive(int connection) {
    std::string& buffer = buffers_[static_cast<std::size_t>(connection)];
    std::array<char, 65536> chunk{};
    const ssize_t got = read(connection, chunk.data(), chunk.size());
    if (got <= 0) {
      fmt::print(stderr, "bench_publisher: the server closed a connection\n");
      return false;
    }
    buffer.append(chunk.data(), static_cast<std::size_t>(got));
    const auto message = next_message(buffer);
    if (!message) {
      return true;
    }
    if (!message->head.starts_with("HTTP/1.1 20")) {
      fmt::print(stderr, "bench_publisher: {}\n{}\n", message->head, message->body);
      return false;
    }
    record_ids(message->body);
    buffer.erase(0, message->size);
    send_next(connection);
    return true;
  }

  void record_ids(std::string_view body) {
    for (std::size_t at = body.find("\"evt_"); at != std::string_view::npos;
         at = body.find("\"evt_", at + 1)) {
      fmt::print(ids_, "{}\n", body.substr(at + 1, 30));
      ++acknowledged_;
    }
  }

  Options options_;
  std::vector<std::string> requests_;
  int poll_;
  std::FILE* ids_ = nullptr;
  std::vector<std::string> buffers_;  // Indexed by socket.
  std::size_t sent_ = 0;
  std::size_t acknowledged_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7 && argc != 8) {
    fmt::print(stderr,
               "usage: bench_publisher PORT KEY COUNT CONNECTIONS BATCH IDS_FILE [TYPES]\n");
    return 2;
  }
  const Options options{.port = static_cast<std::uint16_t>(std::atoi(argv[1])),
                        .key = argv[2],
                        .count = std::strtoull(argv[3], nullptr, 10),
                        .connections = std::strtoull(argv[4], nullptr, 10),
                        .batch = std::strtoull(argv[5], nullptr, 10),
                        .ids_file = argv[6],
                        .types = argc == 8 ? std::strtoull(argv[7], nullptr, 10) : 0};
  const auto begun = std::chrono::steady_clock::now();
  if (!Publisher{options}.run()) {
    return 1;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  fmt::print("{:.3f}\n", took.count());
}
