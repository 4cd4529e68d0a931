#include "main/access_log.h"

#include <memory>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

namespace postrider {
namespace {

class AccessLogTest : public testing::Test {
 protected:
  AccessLogTest() {
    auto logger = std::make_shared<spdlog::logger>(
        "test", std::make_shared<spdlog::sinks::ostream_sink_st>(text_));
    logger->set_pattern("%l %v");
    spdlog::set_default_logger(std::move(logger));
  }
  ~AccessLogTest() override { spdlog::set_default_logger(before_); }

  /// What is logged of the request; empty: nothing.
  std::string logged(std::uint16_t status = 200) {
    text_.str("");
    if (log_.is_active()) {
      log_.request_done({.request_id = request_id_,
                         .method = "GET",
                         .remote_ip = "192.0.2.1",
                         .note = note_,
                         .status = status,
                         .duration = Micros{1'002'003},
                         .request_bytes = 17,
                         .response_bytes = 4,
                         .is_cut = is_cut_});
    }
    return text_.str();
  }

  static void set_level(spdlog::level::level_enum level) {
    spdlog::default_logger()->set_level(level);
  }

  AccessLog log_;
  api::RequestNote note_;
  std::string request_id_ = "r1";
  bool is_cut_ = false;

 private:
  std::shared_ptr<spdlog::logger> before_ = spdlog::default_logger();
  std::ostringstream text_;
};

TEST_F(AccessLogTest, LogsARequestAsOneLine) {
  EXPECT_EQ(logged(),
            "info api.request request_id=\"r1\" method=GET route=none status=200 "
            "duration_ms=1002.003 request_bytes=17 response_bytes=4 remote_ip=192.0.2.1\n");
  note_ = {.route = "/v1/events/{id}",
           .is_routine = false,
           .key_id = KeyId{},
           .tenant_id = "acme",
           .event_id = EventId{},
           .trace_id = TraceId{{0xab}}};
  is_cut_ = true;
  EXPECT_EQ(logged(),
            "info api.request request_id=\"r1\" method=GET route=/v1/events/{id} status=200 "
            "duration_ms=1002.003 request_bytes=17 response_bytes=4 remote_ip=192.0.2.1 "
            "key_id=key_00000000000000000000000000 tenant=\"acme\" "
            "event=evt_00000000000000000000000000 trace_id=ab000000000000000000000000000000 "
            "cut_off=true\n");
}

TEST_F(AccessLogTest, AClientCannotForgeFields) {
  request_id_ = "a\" status=200 \\";
  EXPECT_EQ(logged(404).substr(0, 61),
            "info api.request request_id=\"a\\\" status=200 \\\\\" method=GET ro");
}

TEST_F(AccessLogTest, RoutineRequestsAreLoggedAtLevelDebug) {
  note_.is_routine = true;
  EXPECT_EQ(logged(), "");
  EXPECT_EQ(logged(503), "");
  set_level(spdlog::level::debug);
  EXPECT_EQ(logged().substr(0, 17), "debug api.request");
}

TEST_F(AccessLogTest, LogsOnlyWhatIsWanted) {
  log_.change(config::LogAccess::errors);
  EXPECT_EQ(logged(399), "");
  EXPECT_NE(logged(400), "");
  log_.change(config::LogAccess::off);
  EXPECT_EQ(logged(500), "");
  EXPECT_FALSE(log_.is_active());
  log_.change(config::LogAccess::all);
  EXPECT_NE(logged(), "");
}

TEST_F(AccessLogTest, IsNotActiveBelowTheLevel) {
  EXPECT_TRUE(log_.is_active());
  set_level(spdlog::level::warn);
  EXPECT_FALSE(log_.is_active());
}

}  // namespace
}  // namespace postrider
