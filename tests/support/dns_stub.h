// A name server on loopback, over UDP and TCP, that answers what a test tells it to.
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
  std::string name = {};  // Empty: the name that was asked for.
  Type type = Type::a;
  std::string value = {};  // An address, or a name for cname.
  std::uint32_t time_to_live = 60;
};

struct DnsReply {
  enum class Code : std::uint8_t { ok = 0, servfail = 2, nxdomain = 3, refused = 5 };
  Code code = Code::ok;
  std::vector<DnsRecord> records = {};  // Those of the asked type, and aliases, are sent.
  bool silent = false;                  // Never answer.
  bool only_over_tcp = false;           // Over UDP: truncated and empty.
};

class DnsStub {
 public:
  /// Asked for each query with the name in lower case; runs on the stub's thread.
  using Answer = std::function<DnsReply(const std::string& name)>;

  explicit DnsStub(Answer answer);
  DnsStub(const DnsStub&) = delete;
  DnsStub& operator=(const DnsStub&) = delete;
  ~DnsStub();

  /// Always the same records.
  static Answer always(std::vector<DnsRecord> records);

  /// `127.0.0.1:port`, as the transport's options take it.
  [[nodiscard]] std::string server() const;

  /// How often the A record of `name` was asked for, by UDP or TCP.
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
