// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The context that a fuzzer's imports share. Making one and loading its dialects takes longer than most imports.
#pragma once
#include "mlir/IR/MLIRContext.h"
#include <memory>
#include <sanitizer/allocator_interface.h>

namespace wsc::test {

class FuzzContext {
public:
  /// A context for one more import. What imports make (types, attributes, names of locations) lives as long as its
  /// context, so that is a new one when the process holds much more than with a fresh one.
  mlir::MLIRContext &get() {
    if (!context_ || __sanitizer_get_current_allocated_bytes() > fresh_ + mostGrownBytes) {
      context_.reset();
      context_ = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
      fresh_ = __sanitizer_get_current_allocated_bytes();
    }
    return *context_;
  }

private:
  static constexpr size_t mostGrownBytes = size_t{48} << 20;
  std::unique_ptr<mlir::MLIRContext> context_;
  size_t fresh_ = 0;
};

} // namespace wsc::test
