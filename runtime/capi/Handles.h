// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Handles that can be told from each other, from closed ones and from any other pointer: numbers, never used twice,
// that a table maps to objects. A look-up keeps its object alive.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

namespace wsc::capi {

// `Kind` 1 to 15 tells the tables' handles apart.
template <typename Object, uintptr_t Kind> class Handles {
public:
  void *add(std::shared_ptr<Object> object) {
    const std::unique_lock lock(mutex);
    const uintptr_t handle = next;
    next += 16;
    objects.emplace(handle, std::move(object));
    return reinterpret_cast<void *>(handle);
  }
  // Null if it is closed or none.
  std::shared_ptr<Object> find(const void *handle) const {
    const std::shared_lock lock(mutex);
    const auto found = objects.find(reinterpret_cast<uintptr_t>(handle));
    return found == objects.end() ? nullptr : found->second;
  }
  // The object, which goes when nobody uses it any more.
  std::shared_ptr<Object> remove(const void *handle) {
    const std::unique_lock lock(mutex);
    const auto found = objects.find(reinterpret_cast<uintptr_t>(handle));
    if (found == objects.end())
      return nullptr;
    std::shared_ptr<Object> object = std::move(found->second);
    objects.erase(found);
    return object;
  }

private:
  mutable std::shared_mutex mutex;
  std::unordered_map<uintptr_t, std::shared_ptr<Object>> objects;
  uintptr_t next = 4096 + Kind; // no address of an object: not aligned, in the first pages
};

} // namespace wsc::capi
