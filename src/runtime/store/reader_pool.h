// A few threads for the reads that people ask for, away from the delivery path.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "ports/store.h"

namespace postrider {

class ReaderPool {
 public:
  using Job = std::function<void(Reader&)>;

  /// One thread for each reader.
  explicit ReaderPool(std::vector<Reader> readers);
  ~ReaderPool();
  ReaderPool(const ReaderPool&) = delete;
  ReaderPool& operator=(const ReaderPool&) = delete;

  /// Any thread. The queue is bounded by the callers: a connection waits for one job at a time.
  void submit(Job job);
  /// Finishes what is queued, then ends the threads.
  void stop();

 private:
  void run(Reader& reader);

  std::mutex mutex_;  // Guards the two below.
  std::condition_variable wake_;
  std::deque<Job> queue_;
  bool stopping_ = false;

  std::vector<Reader> readers_;
  std::vector<std::thread> threads_;
};

}  // namespace postrider
