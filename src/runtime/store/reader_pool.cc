#include "runtime/store/reader_pool.h"

#include <utility>

namespace postrider {

ReaderPool::ReaderPool(std::vector<Reader> readers) : readers_(std::move(readers)) {
  for (Reader& reader : readers_) {
    threads_.emplace_back([this, &reader] { run(reader); });
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

void ReaderPool::run(Reader& reader) {
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
    job(reader);
  }
}

}  // namespace postrider
