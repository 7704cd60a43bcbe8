#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "synthetic_trace.h"

/// An allocator that writes its events into a trace as TensorFlow's BFCAllocator does: without duration, and what it
/// frees without op, region and shape. Changes are made in order of time, on whatever threads.
class WrittenAllocator {
 public:
  struct Tensor {
    std::string op = "model/dense/MatMul";
    std::string shape = "[128,32]";
    std::string region = "output";
    std::int64_t data_type = 1;  ///< float
  };

  /// `in_use`: before the window.
  WrittenAllocator(SyntheticTrace& trace, std::string name, std::int64_t capacity, std::int64_t in_use)
      : trace_(trace), name_(std::move(name)), capacity_(capacity), in_use_(in_use) {}

  /// Of the allocator's life, where it was before the window.
  std::int64_t lifetime_peak = 0;
  double fragmentation = 0;  ///< after the changes that follow

  void allocate(const std::string& thread, double at_us, std::int64_t address, std::int64_t bytes,
                const Tensor& tensor) {
    held_[address] = bytes;
    in_use_ += bytes;
    SyntheticTrace::Event& event = add(thread, "MemoryAllocation", at_us, address, bytes);
    event.numbers["data_type"] = tensor.data_type;
    event.texts["tf_op"] = tensor.op;
    event.texts["region_type"] = tensor.region;
    event.texts["shape"] = tensor.shape;
  }
  void allocate(const std::string& thread, double at_us, std::int64_t address, std::int64_t bytes) {
    allocate(thread, at_us, address, bytes, Tensor{});
  }

  void free(const std::string& thread, double at_us, std::int64_t address) {
    const std::int64_t bytes = held_.at(address);
    held_.erase(address);
    in_use_ -= bytes;
    add(thread, "MemoryDeallocation", at_us, address, bytes);
  }

  /// Frees what was allocated before the window.
  void free_old(const std::string& thread, double at_us, std::int64_t address, std::int64_t bytes) {
    in_use_ -= bytes;
    add(thread, "MemoryDeallocation", at_us, address, bytes);
  }

 private:
  SyntheticTrace::Event& add(const std::string& thread, const std::string& name, double at_us, std::int64_t address,
                             std::int64_t bytes) {
    lifetime_peak = std::max(lifetime_peak, in_use_);
    SyntheticTrace::Event& event = trace_.add(thread, name, at_us, 0);
    event.texts = {{"allocator_name", name_}};
    event.numbers = {{"bytes_reserved", 0},
                     {"bytes_allocated", in_use_},
                     {"bytes_available", capacity_ - in_use_},
                     {"peak_bytes_in_use", lifetime_peak},
                     {"requested_bytes", bytes - 1},
                     {"allocation_bytes", bytes},
                     {"addr", address},
                     {"id", 0},
                     {"data_type", 0}};
    // A share of 0 is written as a whole number.
    if (fragmentation == 0) {
      event.numbers["fragmentation"] = 0;
    } else {
      event.reals["fragmentation"] = fragmentation;
    }
    return event;
  }

  SyntheticTrace& trace_;
  std::string name_;
  std::int64_t capacity_;
  std::int64_t in_use_;
  std::map<std::int64_t, std::int64_t> held_;  ///< bytes by address
};
