#include "runtime/sources/status_writers.h"

#include <future>
#include <string>
#include <utility>

namespace postrider {
namespace {

class StoredTrackedRows final : public TrackedRows {
 public:
  StoredTrackedRows(StoreThread& store, ReaderPool& readers) : store_(store), readers_(readers) {}

  Result<std::vector<TrackedRow>> rows_of(const std::string& source,
                                          const std::vector<EventId>& events) override {
    return read<Result<std::vector<TrackedRow>>>(
        [&](SourceRowReader& rows) { return rows.rows_of(source, events); });
  }

  Result<TrackedRowPage> unsettled(const std::string& source, const RowCursor& after,
                                   std::uint32_t limit) override {
    return read<Result<TrackedRowPage>>(
        [&](SourceRowReader& rows) { return rows.unsettled(source, after, limit); });
  }

  Result<void> record(const std::string& source, const std::vector<RowWrittenBack>& rows) override {
    const auto answer = std::make_shared<std::promise<Result<void>>>();
    store_.submit(StoreTask{[answer, source, rows](Store& store, RepliesByShard&) {
      Result<void> done = store.source_rows->record(source, rows);
      answer->set_value(done);
      return done;
    }});
    return answer->get_future().get();
  }

 private:
  /// `query` outlives the job, because the caller waits.
  template <class Answer, class Query>
  [[nodiscard]] Answer read(const Query& query) {
    const auto answer = std::make_shared<std::promise<Answer>>();
    readers_.submit(
        [answer, &query](Reader& reader) { answer->set_value(query(*reader.source_rows)); });
    return answer->get_future().get();
  }

  StoreThread& store_;
  ReaderPool& readers_;
};

}  // namespace

void StatusWriters::make(std::vector<SourceParts>& sources, const Parts& parts) {
  std::vector<std::string> names;
  for (const SourceParts& source : sources) {
    if (source.row_status) {
      names.push_back(source.name);
    }
  }
  if (names.empty()) {
    return;
  }
  changes_ = std::make_unique<RowChanges>(names, RowChangeOptions{.is_shared = parts.is_shared});
  rows_ = std::make_unique<StoredTrackedRows>(*parts.store, *parts.readers);
  for (SourceParts& source : sources) {
    if (source.row_status) {
      writers_.push_back(std::make_unique<StatusWriteBack>(
          StatusWriteBack::Options{.source = source.name,
                                   .keep_delivered = source.keep_delivered,
                                   .seed = parts.seed + writers_.size(),
                                   .is_shared = parts.is_shared},
          std::move(source.row_status),
          StatusWriteBack::Parts{
              .changes = changes_.get(), .rows = rows_.get(), .clock = parts.clock}));
    }
  }
}

void StatusWriters::start() {
  for (const auto& writer : writers_) {
    writer->start();
  }
}

void StatusWriters::stop() {
  if (changes_) {
    changes_->stop();
  }
  for (const auto& writer : writers_) {
    writer->stop();
  }
}

std::vector<MetricSample> StatusWriters::samples() const {
  std::vector<MetricSample> all;
  for (const auto& writer : writers_) {
    std::vector<MetricSample> own = writer->samples();
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

}  // namespace postrider
