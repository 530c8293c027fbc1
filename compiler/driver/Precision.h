// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Float types in which a model may be computed, whatever it says itself.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace wsc::driver {

enum class Precision {
  Model, // as the model says
  F32,   // the same; a model that computes in another float type is refused
  F16,   // what the model computes in f32: 16-bit operands and results, sums in f32
  BF16,
  Mixed, // 16-bit factors (f16) of multiply-adds, all else in f32
};

constexpr std::array<std::string_view, 5> kPrecisionNames{"model", "fp32", "fp16", "bf16", "mixed"};

/// Whether tensors of the model's f32 are stored in 16 bits.
inline bool isNarrow(Precision precision) { return precision >= Precision::F16; }

/// The 16-bit type of a narrow precision as options name it, and as MLIR does.
inline std::string narrowName(Precision precision) { return precision == Precision::BF16 ? "bf16" : "fp16"; }
inline std::string narrowType(Precision precision) { return precision == Precision::BF16 ? "bf16" : "f16"; }

inline std::string precisionName(Precision precision) { return std::string(kPrecisionNames[size_t(precision)]); }

inline std::optional<Precision> findPrecision(std::string_view name) {
  for (size_t i = 0; i < kPrecisionNames.size(); ++i)
    if (kPrecisionNames[i] == name)
      return Precision(i);
  return std::nullopt;
}

} // namespace wsc::driver
