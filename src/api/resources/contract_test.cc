#include <algorithm>
#include <string>
#include <vector>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

#include "api/openapi/document.h"
#include "api/resources/api_world_test.h"
#include "api/resources/routes.h"

#include "tests/support/memory_service.h"

namespace postrider::api {
namespace {

std::string to_upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return 'a' <= c && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return text;
}

std::vector<std::string> documented_routes() {
  const boost::json::value document = boost::json::parse(openapi_document());
  std::vector<std::string> routes;
  for (const auto& [path, item] : document.at("paths").as_object()) {
    for (const auto& [method, operation] : item.as_object()) {
      if (method != "parameters") {
        routes.push_back(to_upper(std::string{method}) + " " + std::string{path});
      }
    }
  }
  std::ranges::sort(routes);
  return routes;
}

TEST(Contract, EveryRouteIsDocumentedAndEveryDocumentedRouteExists) {
  ApiWorld world;
  Router router;
  add_routes(router, world.service(), {});
  std::vector<std::string> routes = router.routes();
  std::ranges::sort(routes);
  EXPECT_EQ(documented_routes(), routes);
}

TEST(Contract, IsServedWithoutAKeyAndNeverChanges) {
  ApiWorld world;
  const Answer first = world.call("GET", "/openapi.json", {}, {{"authorization", ""}});
  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(first.content_type, "application/json");
  EXPECT_EQ(first.at("openapi"), "3.1.0");
  EXPECT_EQ(world.call("GET", "/openapi.json").body, first.body);
}

}  // namespace
}  // namespace postrider::api
