// `postrider dlq discard`: cancels matching dead letters.
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
    if (!flags->query.has_filter() && !flags->all) {
      return fail(Errc::invalid, "Select dead letters with a filter, or use --all.");
    }
    POSTRIDER_TRY(QueryFlags::Query query, flags->query.query(session.now()));
    if (query.empty()) {
      query.emplace_back("all", "true");
    }
    return run_operation(session,
                         {.method = "DELETE", .path = "/v1/dlq", .query = std::move(query)},
                         {.label = "discard", .wait = wait_of(flags->no_wait, false)});
  };
  Syntax syntax = group.add("discard",
                            "Discard all matching dead letters: they become cancelled and can "
                            "still be retried or replayed",
                            run);
  add_dead_letter_flags(syntax, flags->query);
  syntax.flag("--all", flags->all, "All dead letters, if no filter is given");
  syntax.flag("--no-wait", flags->no_wait, "Start the operation without waiting for its end");
}

}  // namespace postrider::cli
