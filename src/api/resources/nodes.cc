#include <algorithm>
#include <cstdint>

#include "api/json/json_body.h"
#include "api/json/json_writer.h"
#include "api/json/query_reader.h"
#include "api/resources/answers.h"
#include "api/resources/resources.h"

namespace postrider::api {
namespace {

/// The leases of other pools are not known.
std::optional<std::int64_t> shards_of(const ClusterStatus& status, const ClusterNode& node,
                                      const std::string& own_pool) {
  if (node.identity.pool != own_pool) {
    return std::nullopt;
  }
  return std::ranges::count_if(
      status.view.leases, [&](const Lease& lease) { return lease.is_held_by(node.identity.id); });
}

void write_node(JsonWriter& writer, const ClusterNode& node, bool is_self,
                std::optional<std::int64_t> shards) {
  writer.open_object();
  writer.member("id", node.identity.id.to_string());
  writer.member("pool", node.identity.pool);
  writer.member("address", node.identity.address);
  writer.member("self", is_self);
  writer.member("leaving", node.leaving);
  writer.member("age_ms", node.age.count());
  writer.member("expires_in_ms", node.left.count());
  writer.member("shards", shards);
  writer.close_object();
}

void write_nodes(JsonWriter& writer, const ClusterStatus& status) {
  const auto self = std::ranges::find(status.view.nodes, status.self,
                                      [](const ClusterNode& node) { return node.identity.id; });
  // A server whose own entry has expired knows the leases of its pool, but not whose they are.
  const std::optional<std::string> own_pool =
      self == status.view.nodes.end() ? std::nullopt : std::optional{self->identity.pool};
  for (const ClusterNode& node : status.view.nodes) {
    write_node(writer, node, node.identity.id == status.self,
               own_pool ? shards_of(status, node, *own_pool) : std::nullopt);
  }
}

std::int64_t free_shards(const ClusterStatus& status) {
  return std::ranges::count_if(status.view.leases,
                               [](const Lease& lease) { return !lease.owner || lease.expired; });
}

}  // namespace

Awaitable<Reply> list_nodes(Context context, HttpRequest request) {
  POSTRIDER_CO_CHECK(check_no_query(request));
  const SharedStore& store = context.services.shared_store;
  const std::optional<ClusterStatus> status = store.cluster();
  std::string body;
  JsonWriter writer{body};
  writer.open_object();
  writer.member("shared", store.is_shared());
  writer.key("data");
  writer.open_array();
  if (status) {
    write_nodes(writer, *status);
  }
  writer.close_array();
  writer.member("pool_shards_free", status ? std::optional{free_shards(*status)} : std::nullopt);
  writer.close_object();
  co_return json_answer(200, std::move(body));
}

}  // namespace postrider::api
