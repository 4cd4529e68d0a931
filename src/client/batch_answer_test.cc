#include "client/batch_answer.h"

#include <initializer_list>

#include <gtest/gtest.h>

namespace postrider::client {
namespace {

using namespace std::chrono_literals;
using Statuses = std::initializer_list<std::uint16_t>;

constexpr WallTime now = wall_from_unix_ms(784'111'777'000);  // Sun, 06 Nov 1994 08:49:37 GMT.

BatchVerdict judge(std::uint16_t status, std::string body, std::size_t events = 1) {
  return judge_answer({.status = status, .body = std::move(body)}, events, now);
}

std::vector<EventVerdict> events_of(const BatchVerdict& verdict) {
  return std::get<std::vector<EventVerdict>>(verdict);
}

constexpr const char* problem = R"({"status":422,"code":"validation_failed","detail":"Wrong."})";

TEST(JudgeAnswer, GivesEachEventItsResult) {
  const std::string body = R"({"accepted":1,"results":[
      {"index":0,"status":202,"id":"evt_1","deliveries":2,"duplicate":false},
      {"index":1,"status":200,"id":"evt_2","deliveries":2,"duplicate":true},
      {"index":2,"status":409,"id":"evt_3","code":"duplicate_event","detail":"Again."},
      {"index":3,"status":422,"id":null,"code":"validation_failed","detail":"Wrong."},
      {"index":4,"status":429,"id":null,"code":"event_quota_exceeded","detail":"Later."},
      {"index":5,"status":403,"id":null,"code":"tenant_suspended","detail":"No."}]})";
  const std::vector<EventVerdict> want = {EventStored{202, "evt_1", false},
                                          EventStored{200, "evt_2", true},
                                          EventStored{409, "evt_3", true},
                                          EventRejected{422, "validation_failed", "Wrong."},
                                          EventPostponed{429},
                                          EventRejected{403, "tenant_suspended", "No."}};
  EXPECT_EQ(events_of(judge(202, body, 6)), want);
}

TEST(JudgeAnswer, IsUnclearIfASuccessHasNoResultForEachEvent) {
  const std::vector<EventVerdict> want = {EventUnclear{200}, EventUnclear{200}};
  for (const char* body : {"", "<html>", "{}", R"({"results":7})", R"({"results":[]})",
                           R"({"results":[{"status":202,"id":"evt_1"}]})"}) {
    EXPECT_EQ(events_of(judge(200, body, 2)), want) << body;
  }
  for (const char* result : {"7", "{}", R"({"status":"202"})", R"({"status":-1})"}) {
    const std::string body = std::string{R"({"results":[)"} + result + "]}";
    EXPECT_EQ(events_of(judge(202, body)), (std::vector<EventVerdict>{EventUnclear{}})) << body;
  }
}

TEST(JudgeAnswer, RepeatsTheBatchWhileTheServerIsBusy) {
  for (const std::uint16_t status : Statuses{408, 425, 429, 500, 502, 503, 504}) {
    EXPECT_EQ(judge(status, R"({"detail":"Draining."})", 2),
              BatchVerdict(RepeatBatch{std::nullopt, "Draining."}))
        << status;
  }
  EXPECT_EQ(judge(503, "<html>"),
            BatchVerdict(RepeatBatch{std::nullopt, "The server answered 503."}));
}

TEST(JudgeAnswer, ReadsRetryAfterInSecondsOrAsADate) {
  const auto wait = [](const char* header) {
    const BatchVerdict verdict =
        judge_answer({.status = 429, .retry_after = header, .body = ""}, 1, now);
    return std::get<RepeatBatch>(verdict).retry_after;
  };
  EXPECT_EQ(wait("7"), 7s);
  EXPECT_EQ(wait("Sun, 06 Nov 1994 08:50:37 GMT"), 60s);
  EXPECT_EQ(wait("soon"), std::nullopt);
}

TEST(JudgeAnswer, SplitsABatchThatIsRefusedForItsContent) {
  for (const std::uint16_t status : Statuses{400, 413, 422}) {
    EXPECT_EQ(judge(status, problem, 2), BatchVerdict(SplitBatch{})) << status;
    EXPECT_EQ(events_of(judge(status, problem, 1)),
              (std::vector<EventVerdict>{EventRejected{status, "validation_failed", "Wrong."}}));
  }
}

TEST(JudgeAnswer, RejectsAllEventsForAnotherRefusal) {
  for (const std::uint16_t status : Statuses{301, 401, 403, 404, 405}) {
    const EventRejected rejected{status, "", "The server answered " + std::to_string(status) + "."};
    EXPECT_EQ(events_of(judge(status, "", 2)), (std::vector<EventVerdict>{rejected, rejected}));
  }
}

}  // namespace
}  // namespace postrider::client
