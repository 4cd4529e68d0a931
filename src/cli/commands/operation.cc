#include "cli/commands/operation.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <span>
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

/// What the caller waits for.
bool is_reached(const json::value& operation, Wait wait) {
  return is_finished(text_at(operation, "status")) ||
         (wait == Wait::requeued && !text_at(operation, "requeue_finished_at").empty());
}

/// A field of an operation and how it is shown.
struct CountName {
  const char* field;
  const char* name;
};
constexpr std::array rest_counts = {CountName{"skipped", "skipped"}, CountName{"failed", "failed"}};
constexpr std::array outcome_counts = {
    CountName{"succeeded", "succeeded"}, CountName{"dead_again", "dead again"},
    CountName{"cancelled", "cancelled"}, CountName{"waiting", "waiting"}};
constexpr std::array progress_counts = {CountName{"dead_again", "dead again"},
                                        CountName{"failed", "failed"},
                                        CountName{"waiting", "waiting"}};

void wait_for(std::chrono::milliseconds duration) {
  boost::asio::io_context io{1};
  boost::asio::steady_timer{io, duration}.wait();
}

std::string id_of(const json::value& operation) {
  const std::string id = text_at(operation, "id");
  return id.empty() ? text_at(operation, "batch_operation_id") : id;
}

/// The counts that are not zero, each with its name.
std::string listed(const json::value& operation, std::span<const CountName> counts) {
  std::string text;
  for (const auto& [field, name] : counts) {
    if (const std::uint64_t count = count_at(operation, field); count > 0) {
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, name);
    }
  }
  return text;
}

/// A delivery is done once its outcome is known.
ProgressState state_of(const json::value& operation) {
  const std::uint64_t waiting = count_at(operation, "waiting");
  const std::uint64_t done = count_at(operation, "done");
  ProgressState state{.done = done - std::min(done, waiting) + count_at(operation, "skipped") +
                              count_at(operation, "failed"),
                      .total = count_at(operation, "total"),
                      .note = listed(operation, progress_counts)};
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
  if (const std::string rest = listed(operation, rest_counts); !rest.empty()) {
    text += ", " + rest;
  }
  if (const std::string outcome = listed(operation, outcome_counts); !outcome.empty()) {
    text += ". Outcome: " + outcome;
  }
  return text + ".\n";
}

Result<json::value> wait_until_reached(const Session& session, json::value operation,
                                       const OperationOptions& options) {
  Progress progress{
      options.label,
      {.silent = session.json(), .terminal = session.ports().terminal.stderr_is_terminal()}};
  std::chrono::milliseconds pause = poll_interval_first;
  while (!is_reached(operation, options.wait)) {
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
  if (options.wait != Wait::no) {
    POSTRIDER_TRY(operation, wait_until_reached(session, std::move(operation), options));
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
