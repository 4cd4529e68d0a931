#include "main/store.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "adapters/openssl/digest.h"
#include "adapters/postgres/store/database/store_size.h"
#include "adapters/postgres/store/leases/postgres_leases.h"
#include "adapters/postgres/store/peers/postgres_peer_signals.h"
#include "adapters/postgres/store/postgres_store.h"
#include "adapters/sqlite/database/sqlite_store.h"
#include "adapters/sqlite/database/store_check.h"
#include "adapters/sqlite/database/store_size.h"
#include "adapters/system/copied_mark.h"
#include "config/source_address.h"

namespace postrider {
namespace {

/// Opens the store, then its readers.
template <class OpenReader>
Result<OpenedStore> with_readers(Result<Store> store, std::size_t count, OpenReader open_reader) {
  if (!store) {
    return tl::make_unexpected(std::move(store).error());
  }
  OpenedStore opened{
      .store = *std::move(store), .readers = {}, .check = nullptr, .samples = {}, .cluster = {}};
  opened.readers.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    POSTRIDER_TRY(Reader reader, open_reader());
    opened.readers.push_back(std::move(reader));
  }
  return opened;
}

/// The database makes the deliveries now.
Result<void> check_not_copied(const std::string& directory) {
  if (const std::optional<std::string> database = read_copied_mark(directory)) {
    return fail(Errc::invalid,
                fmt::format("The data directory {} was copied to {}. Start the server with that "
                            "database (--store or POSTRIDER_STORE). With this directory it would "
                            "make the same deliveries once more; to do so nevertheless, remove {}.",
                            directory, *database, copied_mark_file(directory)));
  }
  return {};
}

Result<OpenedStore> open_embedded(const config::Config& config, const StoreOptions& options) {
  POSTRIDER_CHECK(check_not_copied(config.data));
  const SqliteOptions sqlite{.directory = config.data,
                             .vfs = std::string{},
                             .shrinks = config.retention.shrinking_store,
                             .accept_data_loss = options.accept_data_loss,
                             .digest = sha256,
                             .vault = options.vault};
  POSTRIDER_TRY(OpenedStore opened, with_readers(open_sqlite_store(sqlite), options.readers,
                                                 [&] { return open_sqlite_reader(sqlite); }));
  opened.check = make_sqlite_store_check(sqlite);
  opened.samples = [directory = config.data] { return store_size_samples(directory); };
  return opened;
}

Result<OpenedStore> open_database(const config::Config& config, const StoreOptions& options) {
  // A suspended server must not keep others from its shards for much longer than its lease.
  const PostgresOptions database{
      .connect = {.address = config.store,
                  .ca_file = std::string{},
                  .idle_in_transaction_max = std::min(Millis{30'000}, config.cluster.lease)},
      .digest = sha256,
      .vault = options.vault,
      .interruption = options.interruption,
      .now = options.now,
      .use = DatabaseUse::shared};
  POSTRIDER_TRY(OpenedStore opened, with_readers(open_postgres_store(database), options.readers,
                                                 [&] { return open_postgres_reader(database); }));
  const auto monitor = std::make_shared<postgres::StoreSizeMonitor>(database);
  opened.samples = [monitor] { return monitor->samples(); };
  if (options.predecessor) {
    // If this fails, its leases expire by themselves.
    (void)make_postgres_leases(database.connect,
                               {.id = *options.predecessor, .pool = {}, .address = {}},
                               options.interruption)
        ->leave();
  }
  opened.cluster = {
      .leases = make_postgres_leases(database.connect, options.identity, options.interruption),
      .signals =
          make_postgres_peer_signals(database.connect, options.identity.id, options.interruption)};
  return opened;
}

}  // namespace

Result<OpenedStore> open_store(const config::Config& config, const StoreOptions& options) {
  return config.store.reveal().empty() ? open_embedded(config, options)
                                       : open_database(config, options);
}

std::string shown_store(const config::Config& config) {
  const std::string& address = config.store.reveal();
  return address.empty() ? config.data : config::shown_address(address);
}

}  // namespace postrider
