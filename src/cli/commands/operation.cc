#include "cli/commands/operation.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "cli/text/json_text.h"
#include "cli/text/print.h"
#include "cli/text/progress.h"

namespace postrider::cli {
namespace {

constexpr std::chrono::milliseconds poll_interval_first{50};
constexpr std::chrono::milliseconds poll_interval_max{1'000};

bool is_finished(std::string_view status) {
  constexpr std::array<std::string_view, 6> finished = {"completed", "succeeded", "done",
                                                        "finished",  "failed",    "cancelled"};
  return std::ranges::find(finished, status) != finished.end();
}

void wait_for(std::chrono::milliseconds duration) {
  boost::asio::io_context io{1};
  boost::asio::steady_timer{io, duration}.wait();
}

std::string id_of(const json::value& operation) {
  const std::string id = text_at(operation, "id");
  return id.empty() ? text_at(operation, "batch_operation_id") : id;
}

ProgressState state_of(const json::value& operation) {
  ProgressState state{.done = count_at(operation, "done") + count_at(operation, "skipped") +
                              count_at(operation, "failed"),
                      .total = count_at(operation, "total"),
                      .note = {}};
  if (const std::uint64_t failed = count_at(operation, "failed"); failed > 0) {
    state.note = fmt::format("{} failed", failed);
  }
  if (const std::string eta = text_at(operation, "eta"); !eta.empty()) {
    state.note += fmt::format("{}ends at about {}", state.note.empty() ? "" : ", ", eta);
  }
  return state;
}

std::string summary(const json::value& operation) {
  std::string text = fmt::format("{} {}", id_of(operation), text_at(operation, "status"));
  if (text_at(operation, "total").empty()) {  // Not counted yet.
    return text + ".\n";
  }
  text += fmt::format(": {} of {} done", count_at(operation, "done"), count_at(operation, "total"));
  for (const char* kind : {"skipped", "failed"}) {
    if (const std::uint64_t count = count_at(operation, kind); count > 0) {
      text += fmt::format(", {} {}", count, kind);
    }
  }
  return text + ".\n";
}

Result<json::value> wait_until_finished(const Session& session, json::value operation,
                                        const std::string& label) {
  Progress progress{
      label, {.silent = session.json(), .terminal = session.ports().terminal.stderr_is_terminal()}};
  std::chrono::milliseconds pause = poll_interval_first;
  while (!is_finished(text_at(operation, "status"))) {
    progress.show(state_of(operation));
    wait_for(pause);
    pause = std::min(pause * 3 / 2, poll_interval_max);
    POSTRIDER_TRY(operation,
                  session.call({.path = "/v1/operations/" + path_part(id_of(operation))}));
  }
  progress.show(state_of(operation));
  return operation;
}

}  // namespace

Result<void> run_operation(const Session& session, const Call& call,
                           const OperationOptions& options) {
  POSTRIDER_TRY(json::value operation, session.call(call));
  if (id_of(operation).empty()) {
    return fail(Errc::unavailable, "The response does not name an operation.");
  }
  if (options.wait) {
    POSTRIDER_TRY(operation, wait_until_finished(session, std::move(operation), options.label));
  }
  print(session.json() ? json::serialize(operation) + "\n" : summary(operation));
  const std::string status = text_at(operation, "status");
  if (status == "failed" || status == "cancelled") {
    const std::string why = text_at(operation, "error");
    return fail(Errc::conflict,
                fmt::format("The operation was not completed: {}.", why.empty() ? status : why));
  }
  return {};
}

}  // namespace postrider::cli
