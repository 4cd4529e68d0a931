#include "client/settings.h"

#include <functional>

#include <gtest/gtest.h>

namespace postrider::client {
namespace {

using namespace std::chrono_literals;

ClientOptions good_options() {
  ClientOptions options;
  options.url = "https://hooks.example.com";
  options.api_key = "pk_1";
  return options;
}

TEST(CheckOptions, AcceptsTheDefaultsWithAUrlAndAKey) {
  const Result<ClientSettings> settings = check_options(good_options());
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_TRUE(settings->server.tls);
  EXPECT_EQ(settings->head.path_prefix, "");
  EXPECT_EQ(settings->head.authority, "hooks.example.com");
  EXPECT_EQ(settings->limits.batch_events_max, 500u);
}

TEST(CheckOptions, KeepsThePathOfTheUrl) {
  ClientOptions options = good_options();
  options.url = "https://example.com:8443/hooks/";
  const ClientSettings settings = check_options(options).value();
  EXPECT_EQ(settings.head.path_prefix, "/hooks");
  EXPECT_EQ(settings.head.authority, "example.com:8443");
}

TEST(CheckOptions, SendsTheKeyWithoutTlsOnlyToThisMachineOrIfAllowed) {
  ClientOptions options = good_options();
  for (const char* url : {"http://localhost:8080", "http://127.0.0.1", "http://[::1]:8080"}) {
    options.url = url;
    EXPECT_TRUE(check_options(options)) << url;
  }
  options.url = "http://10.0.0.7:8080";
  EXPECT_FALSE(check_options(options));
  options.allow_insecure = true;
  EXPECT_TRUE(check_options(options));
}

TEST(CheckOptions, NamesTheOptionThatIsWrong) {
  struct Case {
    std::function<void(ClientOptions&)> spoil;
    const char* names;
  };
  const Case cases[] = {
      {[](ClientOptions& o) { o.url = ""; }, "`url`"},
      {[](ClientOptions& o) { o.url = "ftp://example.com"; }, "`url`"},
      {[](ClientOptions& o) { o.url = "https://example.com/?a=b"; }, "`url`"},
      {[](ClientOptions& o) { o.api_key = ""; }, "`api_key`"},
      {[](ClientOptions& o) { o.api_key = "pk_1\r\nX: y"; }, "`api_key`"},
      {[](ClientOptions& o) { o.batch_events_max = 0; }, "`batch_events_max`"},
      {[](ClientOptions& o) { o.batch_events_max = 1'001; }, "`batch_events_max`"},
      {[](ClientOptions& o) { o.queue_events_max = 0; }, "`queue_events_max`"},
      {[](ClientOptions& o) { o.request_timeout = 0ms; }, "`request_timeout`"},
      {[](ClientOptions& o) { o.request_timeout = std::chrono::milliseconds::max(); },
       "`request_timeout`"},
      {[](ClientOptions& o) { o.retry_delay_max = 1ms; }, "`retry_delay_max`"},
      {[](ClientOptions& o) { o.batch_delay = -1ms; }, "`batch_delay`"},
  };
  for (const Case& each : cases) {
    ClientOptions options = good_options();
    each.spoil(options);
    const Result<ClientSettings> settings = check_options(options);
    ASSERT_FALSE(settings) << each.names;
    EXPECT_NE(settings.error().message.find(each.names), std::string::npos)
        << settings.error().message;
  }
}

}  // namespace
}  // namespace postrider::client
