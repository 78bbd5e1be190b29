#include "device/sim.hpp"

#include <cstdlib>
#include <cstring>
#include <ctime>
#include <utility>
#include <vector>

namespace dlbench::device::sim {

namespace {

constexpr std::int64_t second = 1'000'000'000;
constexpr std::size_t alignment = 512;
constexpr int poison = 0xDD;

}  // namespace

std::int64_t now() {
  timespec read{};
  clock_gettime(CLOCK_MONOTONIC, &read);
  return read.tv_sec * second + read.tv_nsec;
}

void pass(std::int64_t ns, bool spinning) {
  const std::int64_t end = now() + ns;
  if (spinning) {
    while (now() < end) {
    }
    return;
  }
  // Sleep until a deadline, because an interruption would lengthen a sleep for a duration.
  const timespec deadline{end / second, end % second};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, nullptr) != 0) {
  }
}

void Mark::fire() {
  {
    const std::lock_guard lock(mutex_);
    at_ = now();
  }
  changed_.notify_all();
}

void Mark::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return at_ != 0; });
}

bool Mark::fired() {
  return at() != 0;
}

std::int64_t Mark::at() {
  const std::lock_guard lock(mutex_);
  return at_;
}

Queue::Queue(bool blocking) : blocking_(blocking), thread_([this] { work(); }) {}

Queue::~Queue() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Queue::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ending_ || !queued_.empty(); });
    if (queued_.empty()) return;
    const std::function<void()> next = std::move(queued_.front());
    queued_.pop_front();
    working_ = true;
    lock.unlock();
    next();
    lock.lock();
    working_ = false;
    changed_.notify_all();
  }
}

void Queue::push(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    queued_.push_back(std::move(work));
  }
  changed_.notify_all();
}

void Queue::synchronize() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return queued_.empty() && !working_; });
}

bool Queue::idle() {
  const std::lock_guard lock(mutex_);
  return queued_.empty() && !working_;
}

std::shared_ptr<Mark> Queue::record() {
  auto mark = std::make_shared<Mark>();
  push([mark] { mark->fire(); });
  return mark;
}

void Queue::wait(std::shared_ptr<Mark> mark) {
  push([mark = std::move(mark)] { mark->wait(); });
}

void Recorded::set(std::shared_ptr<Mark> mark) {
  const std::lock_guard lock(mutex_);
  mark_ = std::move(mark);
}

std::shared_ptr<Mark> Recorded::get() {
  const std::lock_guard lock(mutex_);
  return mark_;
}

Device& Device::instance() {
  static Device device;
  return device;
}

Device::Device() : legacy_(true) {}

Device::~Device() {
  queues_.clear();
  for (const auto& [begin, block] : blocks_) std::free(reinterpret_cast<void*>(begin));
}

Queue* Device::create(bool blocking) {
  auto queue = std::make_unique<Queue>(blocking);
  Queue* const key = queue.get();
  const std::lock_guard lock(mutex_);
  queues_.emplace(key, std::move(queue));
  return key;
}

bool Device::destroy(Queue* queue) {
  std::unique_ptr<Queue> last;
  const std::lock_guard lock(mutex_);
  const auto found = queues_.find(queue);
  if (found == queues_.end()) return false;
  last = std::move(found->second);
  queues_.erase(found);
  // Like a driver, return at once; the queued work is finished later.
  std::thread([last = std::move(last)] {}).detach();
  return true;
}

Queue& Device::at(Stream handle) {
  return reinterpret_cast<std::uintptr_t>(handle) <= 2 ? legacy_ : *static_cast<Queue*>(handle);
}

void Device::edges(Queue& to) {
  if (&to != &legacy_) {
    if (to.blocking()) to.wait(legacy_.record());
    return;
  }
  const std::lock_guard lock(mutex_);
  for (const auto& [queue, owner] : queues_) {
    if (queue->blocking()) legacy_.wait(queue->record());
  }
}

void Device::push(Stream handle, std::function<void()> work) {
  Queue& queue = at(handle);
  edges(queue);
  queue.push(std::move(work));
}

std::shared_ptr<Mark> Device::record(Stream handle) {
  auto mark = std::make_shared<Mark>();
  push(handle, [mark] { mark->fire(); });
  return mark;
}

void Device::synchronize() {
  std::vector<std::shared_ptr<Mark>> marks;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [queue, owner] : queues_) marks.push_back(queue->record());
  }
  legacy_.synchronize();
  for (const auto& mark : marks) mark->wait();
}

void* Device::allocate(std::size_t bytes, Memory kind) {
  void* begin = nullptr;
  if (posix_memalign(&begin, alignment, bytes == 0 ? 1 : bytes) != 0) return nullptr;
  const std::lock_guard lock(mutex_);
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  blocks_[address] = {address, bytes, kind};
  return begin;
}

bool Device::free(void* begin) {
  const std::lock_guard lock(mutex_);
  const auto found = blocks_.find(reinterpret_cast<std::uintptr_t>(begin));
  if (found == blocks_.end()) return false;
  std::memset(begin, poison, found->second.bytes);
  blocks_.erase(found);
  std::free(begin);
  return true;
}

std::size_t Device::allocated() {
  const std::lock_guard lock(mutex_);
  std::size_t bytes = 0;
  for (const auto& [begin, block] : blocks_)
    bytes += block.kind == Memory::Pinned ? 0 : block.bytes;
  return bytes;
}

std::optional<Device::Block> Device::block_of(const void* address) {
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  const std::lock_guard lock(mutex_);
  auto after = blocks_.upper_bound(wanted);
  if (after == blocks_.begin()) return std::nullopt;
  const Block& block = (--after)->second;
  return wanted - block.begin < block.bytes ? std::optional(block) : std::nullopt;
}

}  // namespace dlbench::device::sim
