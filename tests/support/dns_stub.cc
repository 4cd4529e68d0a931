#include "tests/support/dns_stub.h"

#include <array>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/assert.h"

namespace postrider::test {
namespace {

constexpr std::size_t header_bytes = 12;
constexpr std::size_t message_bytes_max = 65'535;

void put16(std::string& out, std::size_t value) {
  out.push_back(static_cast<char>((value >> 8) & 0xff));
  out.push_back(static_cast<char>(value & 0xff));
}

std::string encode_name(const std::string& name) {
  std::string out;
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t dot = std::min(name.find('.', at), name.size());
    out.push_back(static_cast<char>(dot - at));
    out.append(name, at, dot - at);
    at = dot + 1;
  }
  out.push_back('\0');
  return out;
}

struct Question {
  std::string name;
  std::uint16_t type = 0;
  std::size_t end = 0;  // Where it ends in the query.
};

Question read_question(const std::string& query) {
  Question question;
  std::size_t at = header_bytes;
  while (at < query.size() && query[at] != '\0') {
    const auto length = static_cast<unsigned char>(query[at]);
    if (!question.name.empty()) {
      question.name.push_back('.');
    }
    question.name.append(query, at + 1, length);
    at += length + 1u;
  }
  for (char& character : question.name) {
    character = static_cast<char>(std::tolower(static_cast<unsigned char>(character)));
  }
  question.end = at + 5;
  if (question.end <= query.size()) {
    question.type = static_cast<std::uint16_t>((static_cast<unsigned char>(query[at + 1]) << 8) |
                                               static_cast<unsigned char>(query[at + 2]));
  }
  return question;
}

std::string encode_data(const DnsRecord& record) {
  if (record.type == DnsRecord::Type::cname) {
    return encode_name(record.value);
  }
  std::array<char, 16> bytes{};
  const bool v6 = record.type == DnsRecord::Type::aaaa;
  POSTRIDER_ASSERT(inet_pton(v6 ? AF_INET6 : AF_INET, record.value.c_str(), bytes.data()) == 1);
  return {bytes.data(), v6 ? 16u : 4u};
}

std::string encode_record(const DnsRecord& record) {
  std::string out = record.name.empty() ? std::string{"\xc0\x0c", 2} : encode_name(record.name);
  put16(out, static_cast<std::uint16_t>(record.type));
  put16(out, 1);
  put16(out, record.time_to_live >> 16);
  put16(out, record.time_to_live & 0xffff);
  const std::string data = encode_data(record);
  put16(out, data.size());
  return out + data;
}

int bind_loopback(int kind, std::uint16_t port) {
  const int fd = ::socket(AF_INET, kind | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (fd >= 0 && ::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    return fd;
  }
  ::close(fd);
  return -1;
}

std::uint16_t port_of(int fd) {
  sockaddr_in address{};
  socklen_t length = sizeof address;
  POSTRIDER_ASSERT(::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) == 0);
  return ntohs(address.sin_port);
}

}  // namespace

DnsStub::DnsStub(Answer answer) : answer_(std::move(answer)) {
  constexpr int tries_max = 100;
  // The port must be free for both UDP and TCP.
  for (int attempt = 0; attempt < tries_max && tcp_ < 0; ++attempt) {
    if (udp_ >= 0) {
      ::close(udp_);
    }
    udp_ = bind_loopback(SOCK_DGRAM, 0);
    POSTRIDER_ASSERT(udp_ >= 0);
    port_ = port_of(udp_);
    tcp_ = bind_loopback(SOCK_STREAM, port_);
  }
  POSTRIDER_ASSERT(tcp_ >= 0);
  POSTRIDER_ASSERT(::listen(tcp_, 16) == 0);
  POSTRIDER_ASSERT(::pipe(wake_) == 0);
  thread_ = std::thread{[this] { run(); }};
}

DnsStub::~DnsStub() {
  ::close(wake_[1]);
  thread_.join();
  ::close(wake_[0]);
  ::close(udp_);
  ::close(tcp_);
}

DnsStub::Answer DnsStub::always(std::vector<DnsRecord> records) {
  return
      [records = std::move(records)](const std::string&) { return DnsReply{.records = records}; };
}

std::string DnsStub::server() const { return "127.0.0.1:" + std::to_string(port_); }

std::size_t DnsStub::queries(const std::string& name) const {
  const std::lock_guard lock{mutex_};
  const auto found = queries_.find(name);
  return found == queries_.end() ? 0 : found->second;
}

void DnsStub::run() {
  for (;;) {
    std::array<pollfd, 3> waiting{pollfd{wake_[0], POLLIN, 0}, pollfd{udp_, POLLIN, 0},
                                  pollfd{tcp_, POLLIN, 0}};
    if (::poll(waiting.data(), waiting.size(), -1) < 0 || waiting[0].revents != 0) {
      return;
    }
    if (waiting[1].revents != 0) {
      serve_udp();
    }
    if (waiting[2].revents != 0) {
      serve_tcp();
    }
  }
}

void DnsStub::serve_udp() {
  std::string query(message_bytes_max, '\0');
  sockaddr_in from{};
  socklen_t length = sizeof from;
  const ssize_t count =
      ::recvfrom(udp_, query.data(), query.size(), 0, reinterpret_cast<sockaddr*>(&from), &length);
  if (count < static_cast<ssize_t>(header_bytes)) {
    return;
  }
  query.resize(static_cast<std::size_t>(count));
  const std::string reply = respond(query, false);
  if (!reply.empty()) {
    ::sendto(udp_, reply.data(), reply.size(), 0, reinterpret_cast<const sockaddr*>(&from), length);
  }
}

void DnsStub::serve_tcp() {
  const int fd = ::accept4(tcp_, nullptr, nullptr, SOCK_CLOEXEC);
  const timeval timeout{2, 0};
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
  constexpr int queries_max = 2;  // The A and AAAA queries of one name use one connection.
  for (int number = 0; number < queries_max; ++number) {
    std::array<unsigned char, 2> size{};
    if (::recv(fd, size.data(), size.size(), MSG_WAITALL) != 2) {
      break;
    }
    std::string query(static_cast<std::size_t>(size[0] << 8 | size[1]), '\0');
    if (::recv(fd, query.data(), query.size(), MSG_WAITALL) != static_cast<ssize_t>(query.size())) {
      break;
    }
    ++queries_over_tcp_;
    const std::string reply = respond(query, true);
    std::string framed;
    put16(framed, reply.size());
    framed += reply;
    ::send(fd, framed.data(), framed.size(), MSG_NOSIGNAL);
  }
  ::close(fd);
}

std::string DnsStub::respond(const std::string& query, bool tcp) {
  const Question question = read_question(query);
  if (question.end > query.size()) {
    return {};
  }
  if (question.type == static_cast<std::uint16_t>(DnsRecord::Type::a)) {
    const std::lock_guard lock{mutex_};
    ++queries_[question.name];
  }
  const DnsReply reply = answer_(question.name);
  if (reply.silent) {
    return {};
  }
  const bool truncated = reply.only_over_tcp && !tcp;
  std::string records;
  std::size_t count = 0;
  for (const DnsRecord& record : reply.records) {
    const std::string encoded = encode_record(record);
    const bool queried = record.type == DnsRecord::Type::cname ||
                         static_cast<std::uint16_t>(record.type) == question.type;
    if (queried && !truncated && records.size() + encoded.size() < message_bytes_max - 1024) {
      records += encoded;
      ++count;
    }
  }
  std::string out = query.substr(0, 2);
  out.push_back(static_cast<char>(truncated ? 0x87 : 0x85));  // Response, authoritative, recursion.
  out.push_back(static_cast<char>(0x80 | static_cast<unsigned char>(reply.code)));
  put16(out, 1);
  put16(out, count);
  put16(out, 0);
  put16(out, 0);
  out.append(query, header_bytes, question.end - header_bytes);
  return out + records;
}

}  // namespace postrider::test
