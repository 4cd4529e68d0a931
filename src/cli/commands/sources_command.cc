// `postrider sources`: lists, pauses and resumes the sources of events.
#include <memory>

#include "cli/commands/group.h"
#include "cli/text/json_text.h"
#include "cli/text/table.h"

namespace postrider::cli {
namespace {

constexpr const char* examples = R"(Examples:
  postrider sources list
  postrider sources pause shop
      The messages wait in the source until it is resumed or the server is started again.
  postrider sources resume shop

Environment:
  POSTRIDER_SERVER   the server, instead of --server
  POSTRIDER_KEY      the API key, instead of --key)";

const std::vector<Column> columns = {{"NAME", "name"},
                                     {"KIND", "kind"},
                                     {"STATE", "state"},
                                     {"SINCE", "since"},
                                     {"WAITING", "lag.messages"},
                                     {"STORED", "stored"},
                                     {"DUPLICATES", "duplicates"},
                                     {"REJECTED", "rejected"},
                                     {"LAST EVENT", "last_event_at"},
                                     {"REASON", "reason"}};

/// Adds `pause` or `resume`, which are also the last parts of the paths.
void add_action(Group& group, const std::string& action, const std::string& description) {
  const auto name = std::make_shared<std::string>();
  const auto run = [name, action](const Session& session) {
    return session.show(
        {.method = "POST", .path = "/v1/sources/" + path_part(*name) + "/" + action}, fields_text);
  };
  group.add(action, description, run).argument("NAME", *name, "Name of the source");
}

}  // namespace

std::unique_ptr<Subcommand> add_sources(Syntax root) {
  auto group =
      std::make_unique<Group>(root, "sources", "List, pause and resume the sources of events");
  group->syntax().footer(examples);
  group->add("list", "List the sources with their states", [](const Session& session) {
    return session.show_page({.path = "/v1/sources"}, columns);
  });
  add_action(*group, "pause", "Receive no more messages from a source");
  add_action(*group, "resume", "Receive messages from a paused source again");
  return group;
}

}  // namespace postrider::cli
