#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/resources/api_world_test.h"

#include "tests/support/memory_service.h"

namespace postrider::api {
namespace {

/// In the form that ApiWorld's schema check understands.
constexpr std::string_view forbids_x = R"({"forbid":"x"})";

std::string make_type(ApiWorld& world, std::string_view fields) {
  return world.call("POST", "/v1/event-types", std::string{fields}).body;
}

TEST(EventTypeRoutes, CreatesReadsAndDeletes) {
  ApiWorld world;
  const Answer made = world.call("POST", "/v1/event-types",
                                 R"({"name":"order.created","description":"An order",)"
                                 R"("schema":{ "forbid" : "x" },"example":{"a": 1.50}})");
  EXPECT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(made.header("Location"), "/v1/event-types/order.created");
  constexpr std::string_view want =
      R"({"name":"order.created","description":"An order","schema":{ "forbid" : "x" },)"
      R"("validate":true,"example":{"a": 1.50},"archived":false,"system":false,)"
      R"("created_at":"2026-01-01T00:00:00.000Z","updated_at":"2026-01-01T00:00:00.000Z"})";
  EXPECT_EQ(made.body, want) << "byte for byte";
  EXPECT_EQ(world.call("GET", "/v1/event-types/order.created").body, want);
  EXPECT_EQ(world.service().store.audit.back().entry.action, "event_type.create");
  EXPECT_EQ(world.service().store.audit.back().entry.subject, "order.created");

  EXPECT_EQ(world.call("DELETE", "/v1/event-types/order.created").status, 204);
  EXPECT_EQ(world.service().store.audit.back().entry.action, "event_type.delete");
  for (const char* method : {"GET", "DELETE", "PUT"}) {
    const Answer gone = world.call(method, "/v1/event-types/order.created", "{}");
    EXPECT_EQ(gone.status, 404) << method;
    EXPECT_EQ(gone.at("detail"), "There is no event type `order.created`.") << method;
  }
}

TEST(EventTypeRoutes, RejectsADuplicateName) {
  ApiWorld world;
  make_type(world, R"({"name":"a"})");
  const std::size_t entries = world.service().store.audit.size();
  const Answer again = world.call("POST", "/v1/event-types", R"({"name":"a"})");
  EXPECT_EQ(again.status, 409);
  EXPECT_EQ(again.at("code"), "event_type_exists");
  EXPECT_EQ(world.service().store.audit.size(), entries);
}

TEST(EventTypeRoutes, PutMerges) {
  ApiWorld world;
  make_type(world, R"({"name":"a","description":"d","schema":{"forbid":"x"},"example":"ok"})");
  world.service().moment.wall += Millis{5};
  const Answer changed =
      world.call("PUT", "/v1/event-types/a", R"({"archived":true,"validate":false,"name":"a"})");
  EXPECT_EQ(changed.status, 200) << changed.body;
  EXPECT_EQ(
      changed.body,
      R"({"name":"a","description":"d","schema":{"forbid":"x"},"validate":false,)"
      R"("example":"ok","archived":true,"system":false,"created_at":"2026-01-01T00:00:00.000Z",)"
      R"("updated_at":"2026-01-01T00:00:00.005Z"})");
  const Answer bare = world.call(
      "PATCH", "/v1/event-types/a",
      R"({"description":null,"schema":null,"validate":null,"example":null,"archived":null})");
  EXPECT_EQ(bare.at("schema"), "null");
  EXPECT_EQ(bare.at("description"), "null");
  EXPECT_EQ(bare.at("example"), "null");
  EXPECT_EQ(bare.at("archived"), "false");
  EXPECT_EQ(bare.at("validate"), "false") << "there is nothing to validate with";
}

TEST(EventTypeRoutes, MergesAgainAfterAConcurrentChange) {
  ApiWorld world;
  make_type(world, R"({"name":"a","example":"x"})");
  // The example before the concurrent change satisfied the schema.
  world.service().before_change = [&world] {
    world.service().apply_now("a", [](const EventTypeRef& current) -> Result<EventTypeRef> {
      KnownEventType other = *current;
      other.type.example = R"("y")";
      return std::make_shared<const KnownEventType>(std::move(other));
    });
  };
  const Answer refused =
      world.call("PUT", "/v1/event-types/a", R"({"schema":{"forbid":"y"},"description":"second"})");
  EXPECT_EQ(refused.status, 422) << refused.body;
  EXPECT_EQ(refused.at("errors.0.field"), "example.here[0]");
  EXPECT_EQ(world.call("GET", "/v1/event-types/a").at("schema"), "null");
}

TEST(EventTypeRoutes, InvalidBodyNamesTheField) {
  ApiWorld world;
  make_type(world, R"({"name":"taken","schema":{"forbid":"x"}})");
  struct Case {
    std::string_view body;
    std::string_view field;
  };
  const std::string long_name = R"({"name":")" + std::string(257, 'a') + R"("})";
  const std::string long_schema =
      R"({"name":"a","schema":{"forbid":")" + std::string(65'536, 'a') + R"("}})";
  const std::string long_example =
      R"({"name":"a","example":")" + std::string(32'767, 'a') + R"("})";
  const Case cases[] = {
      {"{}", "name"},
      {R"({"name":null})", "name"},
      {R"({"name":"a..b"})", "name"},
      {R"({"name":"a*"})", "name"},
      {long_name, "name"},
      {R"({"name":"a","schema":5})", "schema"},
      {R"({"name":"a","schema":"{}"})", "schema"},
      {R"({"name":"a","schema":{"no":"rule"}})", "schema"},
      {long_schema, "schema"},
      {long_example, "example"},
      {R"({"name":"a","schema":{"forbid":"x"},"example":["x"]})", "example.here[0]"},
      {R"({"name":"a","validate":"yes"})", "validate"},
      {R"({"name":"a","archived":1})", "archived"},
      {R"({"name":"a","created_at":null})", "created_at"},
      {R"({"name":"a","description":""})", "description"},
      {R"({"name":"a","colour":1})", "colour"},
  };
  for (const Case& c : cases) {
    const Answer answer = world.call("POST", "/v1/event-types", std::string{c.body});
    EXPECT_EQ(answer.status, 422) << c.body;
    EXPECT_EQ(answer.at("errors.0.field"), c.field) << c.body;
  }
  const Answer renamed = world.call("PUT", "/v1/event-types/taken", R"({"name":"other"})");
  EXPECT_EQ(renamed.at("detail"), "`name` cannot be changed. Create another event type.");
  const Answer unusable = world.call("PUT", "/v1/event-types/taken", R"({"schema":{"no":"rule"}})");
  EXPECT_EQ(unusable.at("errors.0.message"), "cannot be used: there is no rule in it.");
}

TEST(EventTypeRoutes, ListsInTheOrderOfNames) {
  ApiWorld world;
  const std::string longest(256, 'z');
  for (const std::string& name :
       {std::string{"b"}, std::string{"a.b"}, longest, std::string{"a"}}) {
    make_type(world, fmt::format(R"({{"name":"{}","archived":{}}})", name, name == "b"));
  }
  const Answer first = world.call("GET", "/v1/event-types?limit=2");
  EXPECT_EQ(first.at("data.0.name"), "a");
  EXPECT_EQ(first.at("data.1.name"), "a.b");
  const Answer second =
      world.call("GET", "/v1/event-types?limit=1&cursor=" + first.at("next_cursor"));
  EXPECT_EQ(second.at("data.0.name"), "b");
  const Answer third = world.call("GET", "/v1/event-types?limit=2&offset=2");
  EXPECT_EQ(third.at("data.1.name"), longest);
  EXPECT_EQ(third.at("next_cursor"), "null");
  EXPECT_EQ(world.call("GET", "/v1/event-types?archived=true").at("data.0.name"), "b");
  EXPECT_EQ(world.call("GET", "/v1/event-types?archived=false&offset=2").at("data.0.name"),
            longest);
  EXPECT_EQ(world.call("GET", "/v1/event-types?archived=perhaps").status, 400);
  EXPECT_EQ(world.call("GET", "/v1/event-types?cursor=abc").at("code"), "invalid_cursor");

  make_type(world, R"({"name":")" + std::string(255, 'z') + R"("})");
  const Answer before_last = world.call("GET", "/v1/event-types?limit=4");
  const Answer last = world.call("GET", "/v1/event-types?cursor=" + before_last.at("next_cursor"));
  EXPECT_EQ(last.at("data.0.name"), longest) << "after a cursor with a name of 255 letters";
}

TEST(PublishGate, RejectsDataThatViolatesTheSchema) {
  ApiWorld world;
  make_type(world, R"({"name":"order","schema":)" + std::string{forbids_x} + "}");
  const Answer refused = world.call("POST", "/v1/events", R"({"type":"order","data":"x"})");
  EXPECT_EQ(refused.status, 422);
  EXPECT_EQ(refused.at("code"), "schema_violation");
  EXPECT_EQ(refused.at("errors.0.field"), "data.here[0]");
  EXPECT_EQ(refused.at("detail"),
            "`data.here[0]` must not have x in it. The schema is that of event type order.");
  EXPECT_EQ(world.call("POST", "/v1/events", R"({"type":"order","data":"y"})").status, 202);
  EXPECT_EQ(world.call("POST", "/v1/events", R"({"type":"other","data":"x"})").status, 202);

  world.call("PUT", "/v1/event-types/order", R"({"validate":false})");
  EXPECT_EQ(world.call("POST", "/v1/events", R"({"type":"order","data":"x"})").status, 202);
  world.call("PUT", "/v1/event-types/order", R"({"validate":true})");
  EXPECT_EQ(world.call("POST", "/v1/events", R"({"type":"order","data":"x"})").status, 422);
}

TEST(PublishGate, ChecksEachItemOfABatch) {
  ApiWorld world;
  make_type(world, R"({"name":"order","schema":{"forbid":"x"}})");
  make_type(world, R"({"name":"old","archived":true})");
  constexpr std::string_view batch =
      R"({"events":[{"type":"order","data":"y"},{"type":"order","data":"x"},)"
      R"({"type":"old","data":1}]})";
  const Answer whole = world.call("POST", "/v1/events/batch", std::string{batch});
  EXPECT_EQ(whole.status, 422);
  EXPECT_EQ(whole.at("code"), "schema_violation");
  EXPECT_EQ(whole.at("errors.0.field"), "events[1].data.here[0]");
  EXPECT_EQ(whole.at("errors.1.field"), "events[2].type");
  const Answer each = world.call("POST", "/v1/events/batch?atomic=false", std::string{batch});
  EXPECT_EQ(each.status, 202);
  EXPECT_EQ(each.at("accepted"), "1");
  EXPECT_EQ(each.at("results.1.code"), "schema_violation");
  EXPECT_EQ(each.at("results.2.code"), "event_type_archived");
}

TEST(PublishGate, TheEventsOfARequestShareABudget) {
  ApiWorld world;
  make_type(world, R"({"name":"order","schema":{"forbid":"x"}})");
  const std::string event = R"({"type":"order","data":"costly"})";
  EXPECT_EQ(world.call("POST", "/v1/events", event).status, 202);
  EXPECT_EQ(world.call("POST", "/v1/events", event).status, 202) << "a budget for each request";
  const std::string batch = fmt::format(R"({{"events":[{0},{0},{0}]}})", event);
  const Answer whole = world.call("POST", "/v1/events/batch", batch);
  EXPECT_EQ(whole.status, 422);
  EXPECT_EQ(whole.at("code"), "validation_budget_exceeded");
  EXPECT_EQ(whole.at("errors.0.field"), "events[1].data");
  EXPECT_EQ(whole.at("errors.0.message"),
            "takes too long to check with the schema of event type order. Simplify the schema, or "
            "send less data or fewer events in one request.");
  const Answer each = world.call("POST", "/v1/events/batch?atomic=false", batch);
  EXPECT_EQ(each.at("accepted"), "1");
  EXPECT_EQ(each.at("results.1.code"), "validation_budget_exceeded");
  EXPECT_EQ(each.at("results.2.code"), "validation_budget_exceeded");
}

/// As if an earlier version had stored a schema that this one refuses.
void store_unusable(ApiWorld& world, const std::string& name) {
  world.service().apply_now(name, [](const EventTypeRef& current) -> Result<EventTypeRef> {
    KnownEventType known = *current;
    known.type.schema = R"({"no":"rule"})";
    known.check = nullptr;
    known.schema_fault = "there is no rule in it.";
    return std::make_shared<const KnownEventType>(std::move(known));
  });
}

TEST(PublishGate, RejectsEventsOfATypeWhoseSchemaCannotBeUsed) {
  ApiWorld world;
  make_type(world, R"({"name":"order"})");
  store_unusable(world, "order");
  const std::string event = R"({"type":"order","data":1})";
  const Answer refused = world.call("POST", "/v1/events", event);
  EXPECT_EQ(refused.status, 422);
  EXPECT_EQ(refused.at("code"), "event_type_schema_unusable");
  EXPECT_EQ(refused.at("errors.0.field"), "type");
  EXPECT_EQ(refused.at("errors.0.message"),
            "is order, whose stored schema cannot be used: there is no rule in it. Correct the "
            "schema, or set `validate` to false, with PATCH /v1/event-types/order.");
}

TEST(EventTypeRoutes, AnUnusableSchemaDoesNotPreventOtherChanges) {
  ApiWorld world;
  make_type(world, R"({"name":"order"})");
  store_unusable(world, "order");
  const std::string path = "/v1/event-types/order";
  const std::string event = R"({"type":"order","data":1})";
  EXPECT_EQ(world.call("PATCH", path, R"({"description":"d","example":5})").status, 200);
  EXPECT_EQ(world.call("POST", "/v1/events", event).at("code"), "event_type_schema_unusable");
  EXPECT_EQ(world.call("PATCH", path, R"({"schema":{"no":"rule"}})").status, 422);
  EXPECT_EQ(world.call("PATCH", path, R"({"validate":false})").status, 200);
  EXPECT_EQ(world.call("POST", "/v1/events", event).status, 202);
  EXPECT_EQ(world.call("PATCH", path, R"({"validate":true,"schema":{"forbid":"x"}})").status, 200);
  EXPECT_EQ(world.call("POST", "/v1/events", event).status, 202);
  store_unusable(world, "order");
  EXPECT_EQ(world.call("PATCH", path, R"({"schema":null})").status, 200);
  EXPECT_EQ(world.call("POST", "/v1/events", event).status, 202);
}

TEST(EventTypeRoutes, AnExampleHasABudgetToo) {
  ApiWorld world;
  const std::string body = R"({"name":"a","schema":{"forbid":"x"},"example":"costly"})";
  EXPECT_EQ(world.call("POST", "/v1/event-types", body).status, 201);
  const Answer refused = world.call("PATCH", "/v1/event-types/a", R"({"example":"costly costly"})");
  EXPECT_EQ(refused.status, 422);
  EXPECT_EQ(refused.at("errors.0.field"), "example");
  EXPECT_EQ(refused.at("errors.0.message"),
            "takes too long to check with the schema. Simplify one of them.");
}

TEST(PublishGate, RejectsArchivedTypes) {
  ApiWorld world;
  make_type(world, R"({"name":"old","archived":true})");
  const Answer refused = world.call("POST", "/v1/events", R"({"type":"old","data":1})");
  EXPECT_EQ(refused.status, 422);
  EXPECT_EQ(refused.at("code"), "event_type_archived");
  EXPECT_EQ(refused.at("errors.0.field"), "type");
}

TEST(PublishGate, RejectsUnknownTypesIfRequired) {
  ApiWorld lenient;
  EXPECT_EQ(lenient.call("POST", "/v1/events", R"({"type":"new","data":1})").status, 202);
  ApiWorld strict{[](ApiOptions& options) { options.require_known_event_types = true; }};
  const Answer refused = strict.call("POST", "/v1/events", R"({"type":"new","data":1})");
  EXPECT_EQ(refused.status, 422);
  EXPECT_EQ(refused.at("code"), "unknown_event_type");
  make_type(strict, R"({"name":"new"})");
  EXPECT_EQ(strict.call("POST", "/v1/events", R"({"type":"new","data":1})").status, 202);
}

TEST(EventTypeRoutes, FailingStoreChangesNothing) {
  ApiWorld world;
  make_type(world, R"({"name":"a"})");
  world.service().store_failure = Error{Errc::unavailable, "The disk is full."};
  EXPECT_EQ(world.call("POST", "/v1/event-types", R"({"name":"b"})").status, 503);
  EXPECT_EQ(world.call("PUT", "/v1/event-types/a", R"({"archived":true})").status, 503);
  EXPECT_EQ(world.call("DELETE", "/v1/event-types/a").status, 503);
  world.service().store_failure.reset();
  EXPECT_EQ(world.call("GET", "/v1/event-types/a").at("archived"), "false");
  EXPECT_EQ(world.call("GET", "/v1/event-types/b").status, 404);
}

}  // namespace
}  // namespace postrider::api
