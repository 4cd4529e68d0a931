// `postrider dlq discard`: gives dead letters up.
#include <memory>

#include "cli/commands/dlq_commands.h"
#include "cli/commands/operation.h"

namespace postrider::cli {
namespace {

struct DiscardFlags {
  QueryFlags query;
  bool all = false;
  bool no_wait = false;
};

}  // namespace

void add_dlq_discard(Group& group) {
  const auto flags = std::make_shared<DiscardFlags>();
  const auto run = [flags](const Session& session) -> Result<void> {
    if (!flags->query.narrows() && !flags->all) {
      return fail(Errc::invalid, "Say which dead letters, or --all for every one of them.");
    }
    POSTRIDER_TRY(QueryFlags::Query query, flags->query.query());
    if (query.empty()) {
      query.emplace_back("all", "true");
    }
    return run_operation(session,
                         {.method = "DELETE", .path = "/v1/dlq", .query = std::move(query)},
                         {.label = "discard", .wait = !flags->no_wait});
  };
  Syntax syntax = group.add(
      "discard", "Give all that fit up: they become cancelled, which a retry or replay can undo",
      run);
  add_dead_letter_flags(syntax, flags->query);
  syntax.flag("--all", flags->all, "Every dead letter, when nothing else narrows it down");
  syntax.flag("--no-wait", flags->no_wait, "Start it and do not watch");
}

}  // namespace postrider::cli
