// A DNS server on loopback, over UDP and TCP, whose replies a test defines. Runs its own thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace postrider::test {

struct DnsRecord {
  enum class Type : std::uint16_t { a = 1, cname = 5, aaaa = 28 };
  std::string name = {};  // Empty: the queried name.
  Type type = Type::a;
  std::string value = {};  // An address, or a name for cname.
  std::uint32_t time_to_live = 60;
};

struct DnsReply {
  enum class Code : std::uint8_t { ok = 0, servfail = 2, nxdomain = 3, refused = 5 };
  Code code = Code::ok;
  std::vector<DnsRecord> records = {};  // Only records of the queried type and aliases are sent.
  bool silent = false;                  // Send no reply.
  bool only_over_tcp = false;           // Over UDP, reply truncated and empty.
};

class DnsStub {
 public:
  /// Called for each query with the name in lower case, on the stub's thread.
  using Answer = std::function<DnsReply(const std::string& name)>;

  explicit DnsStub(Answer answer);
  DnsStub(const DnsStub&) = delete;
  DnsStub& operator=(const DnsStub&) = delete;
  ~DnsStub();

  /// Replies with the same records to every query.
  static Answer always(std::vector<DnsRecord> records);

  /// The address as `127.0.0.1:port`, for the transport's options.
  [[nodiscard]] std::string server() const;

  /// The number of A queries for `name`, over UDP and TCP.
  [[nodiscard]] std::size_t queries(const std::string& name) const;
  [[nodiscard]] std::size_t queries_over_tcp() const { return queries_over_tcp_; }

 private:
  void run();
  void serve_udp();
  void serve_tcp();
  std::string respond(const std::string& query, bool tcp);

  Answer answer_;
  int udp_ = -1;
  int tcp_ = -1;
  int wake_[2] = {-1, -1};
  std::uint16_t port_ = 0;
  std::atomic<std::size_t> queries_over_tcp_{0};
  mutable std::mutex mutex_;  // Guards queries_.
  std::map<std::string, std::size_t> queries_;
  std::thread thread_;
};

}  // namespace postrider::test
