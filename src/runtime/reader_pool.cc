#include "runtime/reader_pool.h"

#include <utility>

namespace postrider {

ReaderPool::ReaderPool(std::vector<std::unique_ptr<History>> readers)
    : readers_(std::move(readers)) {
  for (const std::unique_ptr<History>& reader : readers_) {
    threads_.emplace_back([this, &history = *reader] { run(history); });
  }
}

ReaderPool::~ReaderPool() { stop(); }

void ReaderPool::submit(Job job) {
  {
    const std::lock_guard lock{mutex_};
    queue_.push_back(std::move(job));
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

void ReaderPool::run(History& history) {
  for (;;) {
    Job job;
    {
      std::unique_lock lock{mutex_};
      wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
      if (queue_.empty()) {
        return;
      }
      job = std::move(queue_.front());
      queue_.pop_front();
    }
    job(history);
  }
}

}  // namespace postrider
