#include <gtest/gtest.h>

#include "config/load.h"
#include "config/print.h"
#include "config/settings.h"

namespace postrider::config {
namespace {

Sources from_file(const std::string& file, Variables variables = {}) {
  return {.profile = {},
          .file = "p.toml",
          .variables = std::move(variables),
          .overrides = {},
          .read_file = [file](const std::string&) -> Result<std::string> { return file; }};
}

std::string refusal(const std::string& lines) {
  const Result<Loaded> loaded = load(from_file("[tracing]\n" + lines));
  return loaded ? "accepted" : loaded.error().message;
}

TEST(TracingSettings, AreOffUntilThereIsAnEndpoint) {
  const TracingConfig tracing = load(from_file(""))->config.tracing;
  EXPECT_EQ(tracing.endpoint, "");
  EXPECT_EQ(tracing.sample_ratio, 0.01);
  EXPECT_EQ(tracing.service_name, "postrider");
  EXPECT_EQ(tracing.timeout, Millis{10'000});
}

TEST(TracingSettings, TheEndpointHasAPathOfItsOwnOrTheUsualOne) {
  EXPECT_EQ(parse_collector_url("http://127.0.0.1:4318")->path_and_query, "/v1/traces");
  EXPECT_EQ(parse_collector_url("http://collector:4318/")->path_and_query, "/v1/traces");
  const Result<TargetUrl> own = parse_collector_url("https://otlp.example.com/otlp/v1/traces?a=b");
  ASSERT_TRUE(own) << own.error().message;
  EXPECT_EQ(own->path_and_query, "/otlp/v1/traces?a=b");
  EXPECT_TRUE(own->tls);
  EXPECT_EQ(own->port, 443);
}

TEST(TracingSettings, WrongValuesAreRefused) {
  EXPECT_EQ(refusal("endpoint = \"collector:4318\""),
            "p.toml:2: tracing.endpoint must be an http or https URL, not \"collector:4318\".");
  EXPECT_NE(refusal("endpoint = \"grpc://collector:4317\""), "accepted");
  EXPECT_NE(refusal("sample_ratio = 1.5"), "accepted");
  EXPECT_NE(refusal("sample_ratio = -0.1"), "accepted");
  EXPECT_NE(refusal("service_name = \"\""), "accepted");
  EXPECT_NE(refusal("timeout_ms = 0"), "accepted");
  EXPECT_EQ(refusal("sample_ratio = 1"), "accepted");
}

TEST(TracingSettings, HeadersAreReadAndNeverShown) {
  const Result<Loaded> loaded =
      load(from_file("", {{"POSTRIDER_TRACING_HEADERS", "Authorization=Bearer canary=,x-team=a"}}));
  ASSERT_TRUE(loaded) << loaded.error().message;
  const std::vector<TracingConfig::Header>& headers = loaded->config.tracing.headers;
  ASSERT_EQ(headers.size(), 2u);
  EXPECT_EQ(headers[0].first, "Authorization");
  EXPECT_EQ(headers[0].second.reveal(), "Bearer canary=");
  EXPECT_EQ(headers[1].second.reveal(), "a");
  for (const std::string& printed : {print_config(*loaded), print_config_json(*loaded)}) {
    EXPECT_EQ(printed.find("canary"), std::string::npos);
    EXPECT_NE(printed.find(R"(["Authorization=[hidden]", "x-team=[hidden]"])"), std::string::npos);
  }
}

TEST(TracingSettings, AWrongHeaderIsRefusedWithoutShowingIt) {
  for (const std::string header :
       {"canary", "=canary", "two words=canary", "Host=canary", "content-type=canary",
        "x=canary\\r\\ny: z", "x=canary\\u00e9"}) {
    const std::string message = refusal("headers = [\"" + header + "\"]");
    EXPECT_EQ(message,
              "p.toml:2: tracing.headers must be a list of at most 16 headers such as "
              "Authorization=Bearer token.")
        << header;
  }
}

TEST(TracingSettings, AReloadKeepsTheHeadersInUse) {
  const Loaded running = *load(from_file("[tracing]\nheaders = [\"x=one\"]\n"));
  const Loaded wanted = *load(from_file("[tracing]\nheaders = [\"x=two\"]\n"));
  EXPECT_EQ(merge_reload(running, wanted).config.tracing.headers.at(0).second.reveal(), "one");
}

}  // namespace
}  // namespace postrider::config
