// A TCP or TLS server on loopback whose behaviour a test scripts, for example slow, broken or
// hostile. Each connection runs the script on its own thread with blocking I/O on raw bytes. The
// only HTTP it understands is where a request ends.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <openssl/ssl.h>

namespace postrider::test {

class ScriptedReceiver;

/// One accepted connection, used by its script. Calls return at once while the receiver is being
/// destroyed. "Gone" means that the client has closed the connection.
class Peer {
 public:
  /// Reads the head and as much body as Content-Length says. Returns nullopt if the client is gone.
  std::optional<std::string> read_request();

  /// Returns false if the client is gone.
  bool write(std::string_view bytes);

  /// Waits until the client's kernel has received everything written.
  void wait_for_arrival();

  /// Writes one byte per `pause` until all is written or the client is gone.
  void write_slowly(std::string_view bytes, std::chrono::milliseconds pause);

  /// Reads one byte per `pause` until the client is gone.
  void read_slowly(std::chrono::milliseconds pause);

  /// Writes the same bytes repeatedly until the client is gone.
  void write_endlessly(std::string_view bytes);

  /// Waits without reading or writing until the client is gone.
  void hold();

  [[nodiscard]] bool client_present() const;

  /// Discards what comes until the client is gone. False if it reset the connection.
  bool drain();

  void half_close();  ///< Closes the sending direction. The client may still send.
  void reset();       ///< Makes the connection end with RST instead of FIN.

  /// The first connection is number 1.
  [[nodiscard]] std::size_t number() const { return number_; }
  /// The TLS server name (SNI) that the client sent; empty if none.
  [[nodiscard]] std::string server_name() const;
  [[nodiscard]] bool tls_resumed() const {
    return ssl_ != nullptr && SSL_session_reused(ssl_) == 1;
  }
  [[nodiscard]] SSL* ssl() { return ssl_; }

 private:
  friend class ScriptedReceiver;
  Peer(ScriptedReceiver& receiver, int fd, std::size_t number)
      : receiver_(receiver), fd_(fd), number_(number) {}

  bool read_more(std::size_t bytes_max = 16 * 1024);

  ScriptedReceiver& receiver_;
  int fd_;
  std::size_t number_;
  SSL* ssl_ = nullptr;
  std::string buffer_;  // Bytes that were read but not yet returned as a request.
};

struct ReceiverOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;             // 0: any free one.
  std::shared_ptr<SSL_CTX> tls = {};  // If set, the script starts after the handshake.
  int receive_buffer_bytes = 0;  // 0: the default. A small buffer blocks a client that writes much.
};

class ScriptedReceiver {
 public:
  using Script = std::function<void(Peer&)>;

  explicit ScriptedReceiver(Script script, ReceiverOptions options = {});
  ScriptedReceiver(const ScriptedReceiver&) = delete;
  ScriptedReceiver& operator=(const ScriptedReceiver&) = delete;
  ~ScriptedReceiver();

  /// A script that answers every request of a connection with the same bytes.
  static Script answering(std::string response);

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] std::size_t connections() const { return connections_; }
  [[nodiscard]] std::size_t requests() const { return requests_; }
  [[nodiscard]] std::size_t handshakes_failed() const { return handshakes_failed_; }

  /// The last complete request.
  [[nodiscard]] std::string last_request() const;

  /// Waits until `count` scripts have ended and their connections are closed.
  [[nodiscard]] bool wait_for_ended(std::size_t count) const;

 private:
  friend class Peer;
  void accept_connections();
  void serve(int fd, std::size_t number);
  bool handshake(Peer& peer);
  bool pause(std::chrono::milliseconds duration);  // Returns false if the receiver is stopping.

  Script script_;
  ReceiverOptions options_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<std::size_t> connections_{0};
  std::atomic<std::size_t> requests_{0};
  std::atomic<std::size_t> handshakes_failed_{0};
  mutable std::mutex mutex_;  // Guards everything below.
  mutable std::condition_variable changed_;
  bool stopping_ = false;
  std::size_t ended_ = 0;
  std::string last_request_;
  std::vector<int> open_;
  std::vector<std::thread> servers_;
  std::thread acceptor_;
};

}  // namespace postrider::test
