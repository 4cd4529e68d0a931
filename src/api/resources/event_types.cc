#include <memory>

#include "api/json/event_type_json.h"
#include "api/json/json_body.h"
#include "api/json/list_answer.h"
#include "api/resources/audit.h"
#include "api/resources/resources.h"

namespace postrider::api {
namespace {

std::string path_name(const HttpRequest& request) {
  const auto found = request.path_parameters.find("name");
  return found == request.path_parameters.end() ? "" : found->second;
}

Parsed<EventTypeRef> path_event_type(const Snapshots& snapshots, const HttpRequest& request) {
  const std::string name = path_name(request);
  EventTypeRef type = snapshots.event_types()->find(name);
  if (!type) {
    return tl::make_unexpected(not_found("event type", name));
  }
  return type;
}

/// The server's own types cannot be changed.
Parsed<void> check_not_reserved(const std::string& name) {
  if (is_reserved_type(name)) {
    return tl::make_unexpected(conflict(
        "event_type_reserved", "Event types that begin with `postrider.` belong to the server."));
  }
  return {};
}

HttpResponse show(std::uint16_t status, const EventType& type) {
  std::string body;
  JsonWriter writer{body};
  write_event_type(writer, type);
  return json_answer(status, std::move(body));
}

Parsed<EventTypeRef> read_new(const Context& context, const HttpRequest& request) {
  POSTRIDER_CHECK(check_no_query(request));
  POSTRIDER_TRY(std::vector<JsonMember> members, read_body(request));
  return merge_event_type(std::move(members), {.current = nullptr,
                                               .trial = nullptr,
                                               .make_check = context.options->make_schema_check,
                                               .now = context.services.clock.now().wall});
}

/// The body was already merged into the entry once, which gave `trial`. Another change may have
/// been stored since, so this merges it again, on the store thread; a problem goes to `merged`.
EventTypeEdit make_edit(const Context& context, std::string body, EventTypeRef trial,
                        std::shared_ptr<Parsed<void>> merged) {
  const WallTime now = context.services.clock.now().wall;
  return [options = context.options, body = std::move(body), trial = std::move(trial),
          outcome = std::move(merged), now](const EventTypeRef& current) -> Result<EventTypeRef> {
    if (!current) {
      return fail(Errc::not_found, "The event type was deleted meanwhile.");
    }
    POSTRIDER_TRY(std::vector<JsonMember> members, read_json_object(body));
    Parsed<EventTypeRef> changed = merge_event_type(
        std::move(members),
        {.current = current, .trial = trial, .make_check = options->make_schema_check, .now = now});
    if (!changed) {
      *outcome = tl::make_unexpected(changed.error());
      return fail(Errc::invalid, changed.error().detail);
    }
    return *std::move(changed);
  };
}

struct TypeQuery {
  std::optional<bool> archived;
  std::optional<bool> system;
  PageQuery page;
};

Parsed<TypeQuery> read_query(const HttpRequest& request) {
  QueryReader query{request};
  TypeQuery asked{
      .archived = query.boolean("archived"), .system = query.boolean("system"), .page = {}};
  POSTRIDER_TRY(PageQuery page, read_page(query, ListKind::event_types));
  asked.page = std::move(page);
  return asked;
}

struct TypePage {
  std::vector<EventTypeRef> types;
  std::optional<std::string> next;  // The last name of this page, if more follow.
};

/// In the order of names.
TypePage select_page(const EventTypeCatalog& catalog, const TypeQuery& asked) {
  TypePage page;
  std::uint32_t to_skip = asked.page.offset;
  for (const EventTypeRef& known : catalog.in_name_order()) {
    const EventType& type = known->type;
    const bool is_before = asked.page.position && type.name <= *asked.page.position;
    const bool is_system = is_reserved_type(type.name);
    if (is_before || type.archived != asked.archived.value_or(type.archived) ||
        is_system != asked.system.value_or(is_system)) {
      continue;
    }
    if (to_skip > 0) {
      --to_skip;
      continue;
    }
    if (page.types.size() == asked.page.limit) {
      page.next = page.types.back()->type.name;
      break;
    }
    page.types.push_back(known);
  }
  return page;
}

std::string write_page(const TypePage& page) {
  const auto write_item = [](JsonWriter& writer, const EventTypeRef& known) {
    write_event_type(writer, known->type);
  };
  return write_list(page.types, next_cursor(ListKind::event_types, page.next), write_item);
}

}  // namespace

Awaitable<Reply> create_event_type(Context context, HttpRequest request) {
  POSTRIDER_CO_TRY(const EventTypeRef made, read_new(context, request));
  const std::string name = made->type.name;
  EventTypeEdit edit = [type = made](const EventTypeRef& current) -> Result<EventTypeRef> {
    if (current) {
      return fail(Errc::conflict, "An event type with this name exists already.");
    }
    return type;
  };
  AuditEntry entry = audit_entry(context, {.action = "event_type.create", .subject = name});
  auto pending = context.services.event_types.change_event_type(
      name, std::move(edit), std::move(entry), context.request_key);
  const Result<EventTypeRef> added = co_await std::move(pending);
  if (!added && added.error().code == Errc::conflict) {
    co_return tl::make_unexpected(conflict("event_type_exists", added.error().message));
  }
  if (!added) {
    co_return tl::make_unexpected(to_problem(added.error()));
  }
  HttpResponse response = show(201, (*added)->type);
  response.headers.emplace_back("Location", "/v1/event-types/" + name);
  co_return response;
}

Awaitable<Reply> get_event_type(Context context, HttpRequest request) {
  POSTRIDER_CO_CHECK(check_no_query(request));
  POSTRIDER_CO_TRY(const EventTypeRef type, path_event_type(context.services.snapshots, request));
  co_return show(200, type->type);
}

Awaitable<Reply> list_event_types(Context context, HttpRequest request) {
  POSTRIDER_CO_TRY(const TypeQuery asked, read_query(request));
  co_return json_answer(200,
                        write_page(select_page(*context.services.snapshots.event_types(), asked)));
}

Awaitable<Reply> update_event_type(Context context, HttpRequest request) {
  POSTRIDER_CO_TRY(const EventTypeRef current,
                   path_event_type(context.services.snapshots, request));
  POSTRIDER_CO_CHECK(check_not_reserved(current->type.name));
  POSTRIDER_CO_TRY(std::vector<JsonMember> members, read_body(request));
  POSTRIDER_CO_TRY(
      const EventTypeRef trial,
      merge_event_type(std::move(members), {.current = current,
                                            .trial = nullptr,
                                            .make_check = context.options->make_schema_check,
                                            .now = context.services.clock.now().wall}));
  const std::string name = current->type.name;
  const auto merged = std::make_shared<Parsed<void>>();
  EventTypeEdit edit = make_edit(context, request.body, trial, merged);
  AuditEntry entry = audit_entry(context, {.action = "event_type.update", .subject = name});
  auto pending = context.services.event_types.change_event_type(name, std::move(edit),
                                                                std::move(entry), std::nullopt);
  const Result<EventTypeRef> changed = co_await std::move(pending);
  POSTRIDER_CO_CHECK(*merged);
  if (!changed) {
    co_return tl::make_unexpected(to_problem(changed.error()));
  }
  co_return show(200, (*changed)->type);
}

Awaitable<Reply> delete_event_type(Context context, HttpRequest request) {
  POSTRIDER_CO_CHECK(check_no_query(request));
  const std::string name = path_name(request);
  POSTRIDER_CO_CHECK(check_not_reserved(name));
  EventTypeEdit edit = [](const EventTypeRef& current) -> Result<EventTypeRef> {
    if (!current) {
      return fail(Errc::not_found, "There is no such event type.");
    }
    return EventTypeRef{};
  };
  AuditEntry entry = audit_entry(context, {.action = "event_type.delete", .subject = name});
  auto pending = context.services.event_types.change_event_type(name, std::move(edit),
                                                                std::move(entry), std::nullopt);
  const Result<EventTypeRef> removed = co_await std::move(pending);
  if (!removed) {
    co_return tl::make_unexpected(to_problem(removed.error(), "event type", name));
  }
  co_return HttpResponse{.status = 204, .content_type = "", .headers = {}, .body = {}};
}

}  // namespace postrider::api
