// Threads that read the store, away from the delivery path. One thread per reader.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/admin/fair_queue.h"
#include "ports/clock.h"
#include "ports/store.h"

#include "runtime/store/connection_meter.h"

namespace postrider {

class ReaderPool {
 public:
  using Job = std::function<void(Reader&)>;

  /// `clock` must outlive this object.
  ReaderPool(std::vector<Reader> readers, const Clock& clock);
  ~ReaderPool();
  ReaderPool(const ReaderPool&) = delete;
  ReaderPool& operator=(const ReaderPool&) = delete;

  /// Any thread. The callers bound the queue: each waits for one job at a time. Owners take turns,
  /// and one thread is left to the operator and the server itself.
  void submit(Job job, ShareOwner owner = {});
  /// Runs the queued jobs, then ends the threads.
  void stop();

  /// Any thread.
  [[nodiscard]] ConnectionUse use() const { return meter_.use(); }

 private:
  struct Queued {
    Job job;
    MonoTime since;
  };

  void run(Reader& reader);

  std::mutex mutex_;  // Guards the two below.
  std::condition_variable wake_;
  FairQueue<Queued> queue_;
  bool stopping_ = false;

  const Clock& clock_;
  ConnectionMeter meter_;
  std::vector<Reader> readers_;
  std::vector<std::thread> threads_;
};

}  // namespace postrider
