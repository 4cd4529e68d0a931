#include "adapters/amqp/amqp_source.h"

#include <gtest/gtest.h>

#include "adapters/amqp/amqp_test_server.h"
#include "adapters/amqp/parking.h"

#include "tests/contract/source_contract.h"

namespace postrider::amqp {
namespace {

class AmqpBench final : public test::SourceBench {
 public:
  explicit AmqpBench(bool quorum) {
    if (quorum) {
      server_.command("declare_quorum " + queue_);
    }
  }

  void add(const std::vector<std::string>& keys) override { server_.publish(queue_, keys); }
  std::unique_ptr<EventSource> make_source() override {
    return server_.make_source(server_.options(queue_));
  }
  std::string key_of(const SourceRecord& record) override {
    const auto found = std::ranges::find(record.fields, "message_id", &SourceField::name);
    return found == record.fields.end() ? "(none)" : found->value;
  }
  std::vector<test::KeptMessage> rejected() override {
    std::vector<test::KeptMessage> kept;
    for (const QueueMessage& message : server_.messages(queue_ + ".rejected")) {
      kept.push_back({message_id(message), header_text(message, reason_header)});
    }
    return kept;
  }
  void stop_server() override { server_.command("refuse"); }
  void start_server() override { server_.command("resume"); }

 private:
  TestServer& server_ = TestServer::get();
  std::string queue_ = server_.new_queue();
};

}  // namespace
}  // namespace postrider::amqp

namespace postrider::test {

POSTRIDER_SOURCE_CONTRACT(
    Amqp,
    SourceBenchFactory{"classic_queue", [] { return std::make_unique<amqp::AmqpBench>(false); }},
    SourceBenchFactory{"quorum_queue", [] { return std::make_unique<amqp::AmqpBench>(true); }});

}  // namespace postrider::test
