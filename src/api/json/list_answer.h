// Responses to list requests: reads one page on a reader thread and writes it as JSON.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "api/json/json_writer.h"
#include "api/json/pagination.h"
#include "api/resources/answers.h"
#include "api/resources/context.h"

namespace postrider::api {

/// Writes `{"data":[…],"next_cursor":…`, with `write_item` for each item. Leaves the object open
/// for further members.
template <class Items, class WriteItem>
void open_list(JsonWriter& writer, const Items& items, const std::optional<std::string>& next,
               WriteItem write_item) {
  writer.open_object();
  writer.key("data");
  writer.open_array();
  for (const auto& item : items) {
    write_item(writer, item);
  }
  writer.close_array();
  writer.member("next_cursor", next);
}

/// Like open_list(), but closes the object.
template <class Items, class WriteItem>
[[nodiscard]] std::string write_list(const Items& items, const std::optional<std::string>& next,
                                     WriteItem write_item) {
  std::string body;
  JsonWriter writer{body};
  open_list(writer, items, next, std::move(write_item));
  writer.close_object();
  return body;
}

/// Writes a `Listed` or a `ListedById`.
template <class SomeListed, class WriteItem>
[[nodiscard]] std::string write_list(const SomeListed& listed, ListKind kind,
                                     WriteItem write_item) {
  return write_list(listed.items, next_cursor(kind, listed.next), std::move(write_item));
}

/// Calls `read(reader, asked)` on a reader thread and responds 200 with `write(found)`. Responds
/// with a problem if the query is not valid or the read fails.
template <class Asked, class Read, class Write>
[[nodiscard]] Awaitable<Reply> answer_list(Context context, Parsed<Asked> asked, Read read,
                                           Write write) {
  if (!asked) {
    co_return tl::make_unexpected(asked.error());
  }
  const auto query = [&asked, &read](Reader& reader) { return read(reader, *asked); };
  auto pending = context.queries().read(query);
  const auto found = co_await std::move(pending);
  if (!found) {
    co_return tl::make_unexpected(to_problem(found.error()));
  }
  co_return json_answer(200, write(*found));
}

}  // namespace postrider::api
