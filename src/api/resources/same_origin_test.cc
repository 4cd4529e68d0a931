#include "api/resources/same_origin.h"

#include <gtest/gtest.h>

namespace postrider::api {
namespace {

using Headers = std::vector<std::pair<std::string, std::string>>;

int status_of(Headers headers, const std::string& public_url = "") {
  HttpRequest request;
  request.headers = std::move(headers);
  request.headers.emplace_back("host", "127.0.0.1:8080");
  ApiOptions options;
  options.public_url = public_url;
  const Parsed<void> checked = check_same_origin(options, request);
  return checked ? 200 : checked.error().status;
}

TEST(SameOrigin, AClientThatIsNoBrowserSendsNeitherHeader) { EXPECT_EQ(status_of({}), 200); }

TEST(SameOrigin, TheBrowsersWordDecides) {
  EXPECT_EQ(status_of({{"sec-fetch-site", "same-origin"}}), 200);
  EXPECT_EQ(status_of({{"sec-fetch-site", "none"}}), 200);
  EXPECT_EQ(status_of({{"sec-fetch-site", "cross-site"}}), 403);
  EXPECT_EQ(status_of({{"sec-fetch-site", "same-site"}}), 403);
  EXPECT_EQ(status_of({{"sec-fetch-site", ""}}), 403);
  // A proxy may have changed the Host.
  EXPECT_EQ(status_of({{"sec-fetch-site", "same-origin"}, {"origin", "https://a.example"}}), 200);
  EXPECT_EQ(status_of({{"sec-fetch-site", "cross-site"}, {"origin", "http://127.0.0.1:8080"}}),
            403);
}

TEST(SameOrigin, OriginMustNameThisServer) {
  EXPECT_EQ(status_of({{"origin", "http://127.0.0.1:8080"}}), 200);
  for (const char* origin : {"http://evil.example", "null", "", "127.0.0.1:8080", "http://",
                             "http://127.0.0.1", "http://127.0.0.1:8081"}) {
    EXPECT_EQ(status_of({{"origin", origin}}), 403) << origin;
  }
  const std::string url = "https://hooks.example.com/";
  EXPECT_EQ(status_of({{"origin", "https://hooks.example.com"}}, url), 200);
  EXPECT_EQ(status_of({{"origin", "https://HOOKS.example.com"}}, url), 200);
  EXPECT_EQ(status_of({{"origin", "https://hooks.example.com.evil.example"}}, url), 403);
}

}  // namespace
}  // namespace postrider::api
