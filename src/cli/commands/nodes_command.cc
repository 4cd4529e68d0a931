// `postrider nodes`: lists the servers that share a PostgreSQL database.
#include <fmt/format.h>

#include "cli/commands/group.h"
#include "cli/text/json_text.h"
#include "cli/text/table.h"

namespace postrider::cli {
namespace {

constexpr const char* examples = R"(Examples:
  postrider nodes
  postrider nodes --json

Environment:
  POSTRIDER_SERVER   the server, instead of --server
  POSTRIDER_KEY      the API key, instead of --key)";

const std::vector<Column> columns = {{"ID", "id"},           {"POOL", "pool"},
                                     {"ADDRESS", "address"}, {"SELF", "self"},
                                     {"LEAVING", "leaving"}, {"SHARDS", "shards"},
                                     {"AGE MS", "age_ms"},   {"EXPIRES IN MS", "expires_in_ms"}};

std::string nodes_text(const json::value& answer, const TableStyle& style) {
  if (text_at(answer, "shared") == "false") {
    return "The server's store is embedded: no other server shares it.\n";
  }
  std::string text = page_text(answer, columns, style);
  const std::string free = text_at(answer, "pool_shards_free");
  if (!free.empty() && free != "0") {
    text += fmt::format("Shards of the server's pool that no server works: {}\n", free);
  }
  return text;
}

}  // namespace

std::unique_ptr<Subcommand> add_nodes(Syntax root) {
  Syntax syntax = root.command("nodes", "List the servers that share a PostgreSQL database");
  syntax.footer(examples);
  return std::make_unique<ApiCommand>(syntax, [](const Session& session) {
    return session.show({.path = "/v1/nodes"}, [&session](const json::value& answer) {
      return nodes_text(answer, session.table_style());
    });
  });
}

}  // namespace postrider::cli
