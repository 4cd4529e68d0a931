#include "runtime/observability/attempt_log.h"

#include <memory>
#include <sstream>

#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

namespace postrider {
namespace {

/// Captures the default logger's output while it exists.
class CapturedLog {
 public:
  CapturedLog() {
    auto sink = std::make_shared<spdlog::sinks::ostream_sink_st>(text_);
    auto logger = std::make_shared<spdlog::logger>("test", sink);
    logger->set_pattern("%l %v");
    spdlog::set_default_logger(logger);
  }
  ~CapturedLog() { spdlog::set_default_logger(before_); }
  CapturedLog(const CapturedLog&) = delete;
  CapturedLog& operator=(const CapturedLog&) = delete;

  [[nodiscard]] std::string text() const { return text_.str(); }

 private:
  std::shared_ptr<spdlog::logger> before_ = spdlog::default_logger();
  std::ostringstream text_;
};

TEST(AttemptLog, LogsAnAttemptAsOneLine) {
  const CapturedLog log;
  Settlement settlement;
  settlement.delivery.event_type = "order.paid";
  settlement.delivery.state = DeliveryState::retrying;
  settlement.attempt = Attempt{};
  settlement.attempt->number = 3;
  settlement.attempt->failure_category = FailureCategory::timeout;
  settlement.attempt->outcome.error_message = "No answer within 30 s.";
  settlement.attempt->outcome.duration = Micros{30'000'400};
  log_attempt(settlement);
  EXPECT_EQ(log.text(),
            "info delivery.attempted delivery=dlv_00000000000000000000000000 "
            "webhook=whk_00000000000000000000000000 event=evt_00000000000000000000000000 "
            "type=order.paid attempt=3 trigger=scheduled state=retrying http_status=0 "
            "failure=timeout duration_ms=30000.4 remote_ip=none "
            "trace_id=00000000000000000000000000000000 error=\"No answer within 30 s.\"\n");
}

TEST(AttemptLog, LogsADeadLetterAsAWarning) {
  const CapturedLog log;
  Settlement settlement;
  settlement.delivery.event_type = "order.paid";
  settlement.delivery.attempt_count = 3;
  settlement.delivery.trace = TraceMark{.id = {{0xab}}};
  settlement.dead = DeadReason{.reason = "max \"attempts\""};
  log_dead_letter(settlement);
  EXPECT_EQ(log.text(),
            "warning delivery.dead_letter delivery=dlv_00000000000000000000000000 "
            "webhook=whk_00000000000000000000000000 event=evt_00000000000000000000000000 "
            "type=order.paid attempts=3 reason=\"max \\\"attempts\\\"\" "
            "trace_id=ab000000000000000000000000000000\n");
}

TEST(AttemptLog, DoesNotLogASettlementWithoutAnAttempt) {
  const CapturedLog log;
  log_attempt(Settlement{});
  EXPECT_EQ(log.text(), "");
}

TEST(LogSafe, ForeignTextCannotForgeALine) {
  EXPECT_EQ(log_safe("a\r\nlevel=error \"x\" \\ \x1b[31m\xc3\xa4"),
            "a??level=error \\\"x\\\" \\\\ ?[31m??");
  EXPECT_EQ(log_safe(std::string(1000, 'y')).size(), 200u);
}

}  // namespace
}  // namespace postrider
