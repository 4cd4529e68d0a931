#include "runtime/store/reader_pool.h"

#include <optional>
#include <utility>

namespace postrider {

ReaderPool::ReaderPool(std::vector<Reader> readers, const Clock& clock)
    : queue_(share_rules(readers.size())),
      clock_(clock),
      meter_("reader", readers.size()),
      readers_(std::move(readers)) {
  for (Reader& reader : readers_) {
    threads_.emplace_back([this, &reader] { run(reader); });
  }
}

ReaderPool::~ReaderPool() { stop(); }

void ReaderPool::submit(Job job, ShareOwner owner) {
  {
    Queued queued{.job = std::move(job), .since = clock_.now().mono};
    const std::lock_guard lock{mutex_};
    meter_.request_queued();
    queue_.push(std::move(owner), std::move(queued));
  }
  wake_.notify_one();
}

void ReaderPool::stop() {
  {
    const std::lock_guard lock{mutex_};
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) {
    if (thread.joinable()) {
      thread.join();
    }
  }
}

void ReaderPool::run(Reader& reader) {
  for (;;) {
    std::optional<FairQueue<Queued>::Turn> turn;
    {
      std::unique_lock lock{mutex_};
      wake_.wait(lock, [&] {
        turn = queue_.start();
        return turn || (stopping_ && queue_.empty());
      });
    }
    if (!turn) {
      return;
    }
    meter_.use_begun(1, clock_.now().mono - turn->job.since);
    turn->job.job(reader);
    meter_.use_ended();
    {
      const std::lock_guard lock{mutex_};
      queue_.end(turn->owner);
    }
    wake_.notify_all();  // Others may wait for this place, or for the queue to be empty.
  }
}

}  // namespace postrider
