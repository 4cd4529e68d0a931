#include "adapters/postgres/store/peers/postgres_peer_signals.h"

#include <optional>
#include <string>
#include <utility>

#include "adapters/postgres/waiting.h"

namespace postrider {
namespace {

using postgres::Connection;
using postgres::Deadline;
using postgres::Direction;
using postgres::Interruption;
using postgres::TextRows;

// A channel belongs to the whole database.
constexpr const char* facts_sql =
    "SELECT pg_backend_pid(), 'postrider_peers_' || md5(current_schema())";

class PostgresPeerSignals final : public PeerSignals {
 public:
  PostgresPeerSignals(postgres::ConnectOptions connect, NodeId id,
                      std::shared_ptr<const Interruption> interruption)
      : options_(std::move(connect)),
        payload_(id.to_string()),
        interruption_(interruption != nullptr ? std::move(interruption)
                                              : std::make_shared<const Interruption>()) {}

  Result<void> signal() override {
    return checked([this]() -> Result<void> {
      POSTRIDER_CHECK(connect());
      POSTRIDER_CHECK(connection_->execute("SELECT pg_notify($1, $2)", {channel_, payload_}));
      return {};
    });
  }

  Result<bool> wait(Millis max) override {
    return checked([&]() -> Result<bool> {
      POSTRIDER_CHECK(connect());
      if (std::exchange(may_have_missed_, false)) {
        return true;
      }
      Result<bool> signalled = false;
      if (is_listening_) {
        signalled = connection_->wait_for_notification(
            {.max = max, .ignored_payload = payload_, .interruption = &awake_});
      } else {
        [[maybe_unused]] const auto woken =
            postgres::wait(-1, Direction::read, &awake_, Deadline{max});
      }
      awake_.clear();
      return signalled;
    });
  }

  [[nodiscard]] bool is_listening() const override { return is_listening_; }
  void wake() override { awake_.set(); }

 private:
  /// Every failure is temporary, and ends the connection.
  template <class Body>
  std::invoke_result_t<Body> checked(const Body& body) {
    auto result = body();
    if (!result) {
      may_have_missed_ = may_have_missed_ || is_listening_;
      is_listening_ = false;
      connection_.reset();
      return fail(Errc::unavailable, std::move(result).error().message);
    }
    return result;
  }

  Result<void> connect() {
    if (connection_) {
      return {};
    }
    POSTRIDER_TRY(connection_, Connection::open(options_, *interruption_));
    POSTRIDER_TRY(const TextRows facts, connection_->execute(facts_sql));
    channel_ = facts.text(0, 1);
    // A pool gives its clients numbers of its own, and their sessions to others.
    if (facts.integer(0, 0) == connection_->server_pid()) {
      POSTRIDER_CHECK(connection_->execute("LISTEN " + Connection::identifier(channel_)));
      is_listening_ = true;
    }
    return {};
  }

  postgres::ConnectOptions options_;
  std::string payload_;
  std::shared_ptr<const Interruption> interruption_;
  Interruption awake_;
  std::optional<Connection> connection_;  // After what it refers to.
  std::string channel_;
  bool is_listening_ = false;
  bool may_have_missed_ = false;  // The connection was lost since the last wait.
};

}  // namespace

std::unique_ptr<PeerSignals> make_postgres_peer_signals(
    postgres::ConnectOptions connect, NodeId id, std::shared_ptr<const Interruption> interruption) {
  return std::make_unique<PostgresPeerSignals>(std::move(connect), id, std::move(interruption));
}

}  // namespace postrider
