// The answer to a list: what was asked for, read by a reader thread, and written as one page.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "api/json/json_writer.h"
#include "api/json/pagination.h"
#include "api/resources/answers.h"
#include "api/resources/context.h"

namespace postrider::api {

/// `{"data":[…],"next_cursor":…`; `write_item` writes one item. The object stays open for what else
/// is to be said.
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

/// The same, closed.
template <class Items, class WriteItem>
[[nodiscard]] std::string write_list(const Items& items, const std::optional<std::string>& next,
                                     WriteItem write_item) {
  std::string body;
  JsonWriter writer{body};
  open_list(writer, items, next, std::move(write_item));
  writer.close_object();
  return body;
}

/// The same of a `Listed` or a `ListedById`.
template <class SomeListed, class WriteItem>
[[nodiscard]] std::string write_list(const SomeListed& listed, ListKind kind,
                                     WriteItem write_item) {
  return write_list(listed.items, next_cursor(kind, listed.next), std::move(write_item));
}

/// `read(reader, asked)` on a reader thread, then 200 with `write(found)`; a mistake in the query
/// and a failure of the reader are answered as what they are.
template <class Asked, class Read, class Write>
[[nodiscard]] Awaitable<HttpResponse> answer_list(Context context, Parsed<Asked> asked, Read read,
                                                  Write write) {
  if (!asked) {
    co_return render(asked.error());
  }
  const auto query = [&asked, &read](Reader& reader) { return read(reader, *asked); };
  auto pending = context.service->read(query);
  const auto found = co_await std::move(pending);
  if (!found) {
    co_return render(to_problem(found.error()));
  }
  co_return json_answer(200, write(*found));
}

}  // namespace postrider::api
