#include "api/resources/api_world_test.h"

#include <charconv>
#include <exception>
#include <optional>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <gtest/gtest.h>

#include "core/json/json_text.h"

#include "adapters/openssl/digest.h"
#include "adapters/openssl/openssl_crypto.h"
#include "adapters/openssl/signer.h"
#include "api/resources/routes.h"

#include "tests/support/memory_service.h"

namespace postrider::api {
namespace {

constexpr std::string_view admin_key = "pk_test_admin";

void split_target(const std::string& target, HttpRequest& request) {
  const std::size_t question = target.find('?');
  request.path = target.substr(0, question);
  if (question == std::string::npos) {
    return;
  }
  std::string_view query{target};
  for (query.remove_prefix(question + 1); !query.empty();) {
    const std::string_view pair = query.substr(0, query.find('&'));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    request.query.emplace_back(pair.substr(0, equals),
                               pair.substr(std::min(equals + 1, pair.size())));
    query.remove_prefix(std::min(pair.size() + 1, query.size()));
  }
}

const boost::json::value* step(const boost::json::value& value, std::string_view name) {
  if (const auto* object = value.if_object()) {
    return object->if_contains({name.data(), name.size()});
  }
  std::size_t index = 0;
  std::from_chars(name.data(), name.data() + name.size(), index);
  const auto* array = value.if_array();
  return array != nullptr && index < array->size() ? &(*array)[index] : nullptr;
}

}  // namespace

std::string Answer::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (key == name) {
      return value;
    }
  }
  return "(none)";
}

std::string Answer::at(std::string_view path) const {
  const boost::json::value* value = &json;
  while (value != nullptr && !path.empty()) {
    const std::string_view name = path.substr(0, path.find('.'));
    value = step(*value, name);
    path.remove_prefix(std::min(name.size() + 1, path.size()));
  }
  if (value == nullptr) {
    return "(none)";
  }
  if (const auto* text = value->if_string()) {
    return {text->begin(), text->end()};
  }
  return boost::json::serialize(*value);
}

namespace {

class FakeSchema final : public SchemaCheck {
 public:
  explicit FakeSchema(std::string forbidden) : forbidden_(std::move(forbidden)) {}

  SchemaVerdict check(std::string_view json, StepBudget& budget) const override {
    for (std::size_t at = json.find("costly"); at != std::string_view::npos;
         at = json.find("costly", at + 1)) {
      if (!budget.spend(costly_steps)) {
        return {.faults = {}, .out_of_steps = true};
      }
    }
    if (json.find(forbidden_) == std::string_view::npos) {
      return {};
    }
    return {.faults = {{"here[0]", "must not have " + forbidden_ + " in it."}}};
  }

 private:
  static constexpr std::uint64_t costly_steps = request_steps_max / 2 + 1;

  std::string forbidden_;
};

Result<std::unique_ptr<const SchemaCheck>> make_fake_check(std::string_view schema) {
  POSTRIDER_TRY(const std::vector<JsonMember> members, read_json_object(schema));
  if (members.size() != 1 || members.front().key != "forbid") {
    return fail(Errc::invalid, "there is no rule in it.");
  }
  return std::make_unique<const FakeSchema>(decode_json_string(members.front().value).value_or(""));
}

}  // namespace

struct ApiWorld::Routes {
  boost::asio::io_context io;
  Router router;
  std::shared_ptr<ApiControl> control;
};

ApiWorld::ApiWorld(const std::function<void(ApiOptions&)>& change)
    : service_(std::make_unique<test::MemoryService>()), routes_(std::make_unique<Routes>()) {
  service_->add_key({.id = {}, .name = "admin", .sha256 = sha256(admin_key), .created_at = {}});
  ApiOptions options;
  options.make_schema_check = make_fake_check;
  options.crypto = &openssl_crypto();
  options.make_sign = make_sign;
  change(options);
  routes_->control = add_routes(routes_->router, *service_, std::move(options));
}

ApiWorld::~ApiWorld() = default;

std::vector<MetricSample> ApiWorld::request_samples() const {
  return routes_->control->meters().samples();
}

namespace {

HttpRequest make_request(std::string method, const std::string& target, std::string body,
                         ApiWorld::Pairs headers) {
  HttpRequest request;
  request.method = std::move(method);
  split_target(target, request);
  request.body = std::move(body);
  request.headers = std::move(headers);
  if (!request.header("host")) {
    request.headers.emplace_back("host", "localhost");
  }
  if (!request.header("authorization") && !request.header("cookie")) {
    request.headers.emplace_back("authorization", "Bearer " + std::string{admin_key});
  }
  return request;
}

}  // namespace

Answer ApiWorld::call(std::string method, std::string target, std::string body, Pairs headers) {
  return run(make_request(std::move(method), target, std::move(body), std::move(headers)),
             routes_->io);
}

ApiWorld::Pairs ApiWorld::sign_in(std::string credentials) {
  const Answer answer =
      call("POST", "/v1/sessions", std::move(credentials), {{"content-type", "application/json"}});
  if (answer.status != 201) {
    return {};
  }
  const std::string cookie = answer.header("Set-Cookie");
  return {{"cookie", cookie.substr(0, cookie.find(';'))},
          {"x-csrf-token", answer.at("csrf_token")}};
}

Answer ApiWorld::call_within(std::string method, std::string target, std::string body,
                             Pairs headers) {
  boost::asio::io_context io;  // The outer call runs the other loop.
  return run(make_request(std::move(method), target, std::move(body), std::move(headers)), io);
}

Answer ApiWorld::run(HttpRequest request, boost::asio::io_context& io) {
  std::optional<HttpResponse> response;
  auto routed = routes_->router.route(std::move(request));
  boost::asio::co_spawn(io, std::move(routed),
                        [&response](std::exception_ptr error, HttpResponse answered) {
                          ASSERT_FALSE(error);
                          response = std::move(answered);
                        });
  io.restart();
  io.run();
  if (!response) {
    ADD_FAILURE() << "no answer";
    return {};
  }
  Answer answer{.status = response->status,
                .content_type = response->content_type,
                .headers = response->headers,
                .body = response->body,
                .json = {}};
  boost::json::error_code error;
  answer.json = boost::json::parse(answer.body, error);
  return answer;
}

std::string ApiWorld::make_webhook(std::string fields) {
  const Answer answer = call("POST", "/v1/webhooks",
                             R"({"url":"https://example.com/","events":["*"])" +
                                 (fields.empty() ? "" : "," + fields) + "}");
  EXPECT_EQ(answer.status, 201) << answer.body;
  return answer.at("id");
}

std::string ApiWorld::publish(std::string event) {
  const Answer answer = call("POST", "/v1/events", std::move(event));
  EXPECT_EQ(answer.status, 202) << answer.body;
  return answer.at("id");
}

std::string ApiWorld::delivery_of(const std::string& event_id) {
  const Answer answer = call("GET", "/v1/events/" + event_id);
  EXPECT_EQ(answer.at("deliveries.1"), "(none)");
  return answer.at("deliveries.0.id");
}

void ApiWorld::settle(const std::string& delivery_id, DeliveryState state, int http_status) {
  Outcome outcome;
  outcome.http_status = static_cast<std::uint16_t>(http_status);
  outcome.executed_at = service_->moment.wall;
  outcome.duration = Micros{1500};
  outcome.response_sample = "caf\xE9";
  outcome.response_headers = {{"Set-Cookie", "a"}, {"set-cookie", "b"}};
  outcome.remote_ip = "192.0.2.1";
  std::optional<DeadReason> dead;
  if (state == DeliveryState::dead_letter) {
    dead = DeadReason{Classification::permanent, "permanent_client_error_404"};
  }
  service_->settle(*DeliveryId::parse(delivery_id), state, outcome, dead);
}

}  // namespace postrider::api
