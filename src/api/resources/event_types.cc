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

Parsed<EventTypeRef> path_event_type(const Context& context, const HttpRequest& request) {
  const std::string name = path_name(request);
  EventTypeRef type = context.service->event_types()->find(name);
  if (!type) {
    return tl::make_unexpected(not_found("event type", name));
  }
  return type;
}

HttpResponse show(std::uint16_t status, const EventType& type) {
  std::string body;
  JsonWriter writer{body};
  write_event_type(writer, type);
  return json_answer(status, std::move(body));
}

Parsed<EventTypeRef> read_new(const Context& context, const HttpRequest& request) {
  if (std::optional<Problem> problem = query_problem(request)) {
    return tl::make_unexpected(*std::move(problem));
  }
  Parsed<std::vector<JsonMember>> members = read_body(request);
  if (!members) {
    return tl::make_unexpected(members.error());
  }
  return merge_event_type(*std::move(members), {.current = nullptr,
                                                .trial = nullptr,
                                                .make_check = context.options->make_schema_check,
                                                .now = context.service->now().wall});
}

/// The body was accepted for the entry as it stood a moment ago, which gave `trial`; another change
/// may have come in between, so it is merged once more and can still fail: into `problem`.
EventTypeEdit make_edit(const Context& context, std::string body, EventTypeRef trial,
                        std::shared_ptr<std::optional<Problem>> problem) {
  const WallTime now = context.service->now().wall;
  return [options = context.options, body = std::move(body), trial = std::move(trial),
          problem = std::move(problem), now](const EventTypeRef& current) -> Result<EventTypeRef> {
    if (!current) {
      return fail(Errc::not_found, "There is no such event type any more.");
    }
    POSTRIDER_TRY(std::vector<JsonMember> members, read_json_object(body));
    Parsed<EventTypeRef> merged = merge_event_type(
        std::move(members),
        {.current = current, .trial = trial, .make_check = options->make_schema_check, .now = now});
    if (!merged) {
      *problem = merged.error();
      return fail(Errc::invalid, merged.error().detail);
    }
    return *std::move(merged);
  };
}

struct TypeQuery {
  std::optional<bool> archived;
  PageQuery page;
};

Parsed<TypeQuery> read_query(const HttpRequest& request) {
  QueryReader query{request};
  TypeQuery asked{.archived = query.boolean("archived"), .page = {}};
  Parsed<PageQuery> page = read_page(query, ListKind::event_types);
  if (!page) {
    return tl::make_unexpected(page.error());
  }
  asked.page = *std::move(page);
  return asked;
}

struct TypePage {
  std::vector<EventTypeRef> types;
  std::optional<std::string> next;  // The last name shown.
};

/// By name.
TypePage select_page(const EventTypeCatalog& catalog, const TypeQuery& asked) {
  TypePage page;
  std::uint32_t to_skip = asked.page.offset;
  for (const EventTypeRef& known : catalog.in_name_order()) {
    const EventType& type = known->type;
    const bool is_before = asked.page.place && type.name <= *asked.page.place;
    if (is_before || type.archived != asked.archived.value_or(type.archived)) {
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

Awaitable<HttpResponse> create_event_type(Context context, HttpRequest request) {
  const Parsed<EventTypeRef> made = read_new(context, request);
  if (!made) {
    co_return render(made.error());
  }
  const std::string name = (*made)->type.name;
  EventTypeEdit edit = [type = *made](const EventTypeRef& current) -> Result<EventTypeRef> {
    if (current) {
      return fail(Errc::conflict, "There is an event type of this name already.");
    }
    return type;
  };
  AuditEntry entry = audit_entry(context, {.action = "event_type.create", .subject = name});
  auto pending = context.service->change_event_type(name, std::move(edit), std::move(entry));
  const Result<EventTypeRef> added = co_await std::move(pending);
  if (!added && added.error().code == Errc::conflict) {
    co_return render(conflict("event_type_exists", added.error().message));
  }
  if (!added) {
    co_return render(to_problem(added.error()));
  }
  HttpResponse response = show(201, (*added)->type);
  response.headers.emplace_back("Location", "/v1/event-types/" + name);
  co_return response;
}

Awaitable<HttpResponse> get_event_type(Context context, HttpRequest request) {
  if (const std::optional<Problem> problem = query_problem(request)) {
    co_return render(*problem);
  }
  const Parsed<EventTypeRef> type = path_event_type(context, request);
  co_return type ? show(200, (*type)->type) : render(type.error());
}

Awaitable<HttpResponse> list_event_types(Context context, HttpRequest request) {
  const Parsed<TypeQuery> asked = read_query(request);
  if (!asked) {
    co_return render(asked.error());
  }
  co_return json_answer(200, write_page(select_page(*context.service->event_types(), *asked)));
}

Awaitable<HttpResponse> update_event_type(Context context, HttpRequest request) {
  const Parsed<EventTypeRef> current = path_event_type(context, request);
  if (!current) {
    co_return render(current.error());
  }
  Parsed<std::vector<JsonMember>> members = read_body(request);
  if (!members) {
    co_return render(members.error());
  }
  const Parsed<EventTypeRef> trial =
      merge_event_type(*std::move(members), {.current = *current,
                                             .trial = nullptr,
                                             .make_check = context.options->make_schema_check,
                                             .now = context.service->now().wall});
  if (!trial) {
    co_return render(trial.error());
  }
  const std::string name = (*current)->type.name;
  auto problem = std::make_shared<std::optional<Problem>>();
  EventTypeEdit edit = make_edit(context, request.body, *trial, problem);
  AuditEntry entry = audit_entry(context, {.action = "event_type.update", .subject = name});
  auto pending = context.service->change_event_type(name, std::move(edit), std::move(entry));
  const Result<EventTypeRef> changed = co_await std::move(pending);
  const std::optional<Problem>& refused = *problem;
  if (refused) {
    co_return render(*refused);
  }
  if (!changed) {
    co_return render(to_problem(changed.error()));
  }
  co_return show(200, (*changed)->type);
}

Awaitable<HttpResponse> delete_event_type(Context context, HttpRequest request) {
  if (const std::optional<Problem> problem = query_problem(request)) {
    co_return render(*problem);
  }
  const std::string name = path_name(request);
  EventTypeEdit edit = [](const EventTypeRef& current) -> Result<EventTypeRef> {
    if (!current) {
      return fail(Errc::not_found, "There is no such event type.");
    }
    return EventTypeRef{};
  };
  AuditEntry entry = audit_entry(context, {.action = "event_type.delete", .subject = name});
  auto pending = context.service->change_event_type(name, std::move(edit), std::move(entry));
  const Result<EventTypeRef> removed = co_await std::move(pending);
  if (!removed && removed.error().code == Errc::not_found) {
    co_return render(not_found("event type", name));
  }
  if (!removed) {
    co_return render(to_problem(removed.error()));
  }
  co_return HttpResponse{.status = 204, .content_type = "", .headers = {}, .body = {}};
}

}  // namespace postrider::api
