#include "exchange/dtype.hpp"

#include <dlpack/dlpack.h>

#include <algorithm>
#include <array>
#include <utility>

#include "exchange/text.hpp"

namespace dlbench::exchange {
namespace {

/// NumPy's dtypes that dlpack.h has no code for.
constexpr std::uint8_t kDatetime = 200, kTimedelta = 201;

constexpr std::array<std::pair<std::string_view, Dtype>, 36> kNames{{
    {"bool", {kDLBool, 8}},
    {"int4", {kDLInt, 4}},
    {"int8", {kDLInt, 8}},
    {"int16", {kDLInt, 16}},
    {"int32", {kDLInt, 32}},
    {"int64", {kDLInt, 64}},
    {"uint4", {kDLUInt, 4}},
    {"uint8", {kDLUInt, 8}},
    {"uint16", {kDLUInt, 16}},
    {"uint32", {kDLUInt, 32}},
    {"uint64", {kDLUInt, 64}},
    {"float16", {kDLFloat, 16}},
    {"float32", {kDLFloat, 32}},
    {"float64", {kDLFloat, 64}},
    {"bfloat16", {kDLBfloat, 16}},
    {"complex32", {kDLComplex, 32}},
    {"complex64", {kDLComplex, 64}},
    {"complex128", {kDLComplex, 128}},
    {"float8_e3m4", {kDLFloat8_e3m4, 8}},
    {"float8_e4m3", {kDLFloat8_e4m3, 8}},
    {"float8_e4m3b11fnuz", {kDLFloat8_e4m3b11fnuz, 8}},
    {"float8_e4m3fn", {kDLFloat8_e4m3fn, 8}},
    {"float8_e4m3fnuz", {kDLFloat8_e4m3fnuz, 8}},
    {"float8_e5m2", {kDLFloat8_e5m2, 8}},
    {"float8_e5m2fnuz", {kDLFloat8_e5m2fnuz, 8}},
    {"float8_e8m0fnu", {kDLFloat8_e8m0fnu, 8}},
    {"float6_e2m3fn", {kDLFloat6_e2m3fn, 6}},
    {"float6_e3m2fn", {kDLFloat6_e3m2fn, 6}},
    {"float4_e2m1fn", {kDLFloat4_e2m1fn, 4}},
    {"datetime64[ns]", {kDatetime, 64}},
    {"timedelta64[ns]", {kTimedelta, 64}},
    // As the buffer protocol reads them without their format.
    {"S8", {kDLOpaqueHandle, 8, 8}},
    {"f4,i4,f8", {kDLOpaqueHandle, 8, 16}},
    {"U8", {kDLOpaqueHandle, 8, 32}},
    {"object", kObjects},
    {"StringDType()", kStrings},
}};

}  // namespace

std::string to_string(Dtype dtype) {
  for (const auto& [name, known] : kNames) {
    if (known == dtype) return std::string(name);
  }
  return "code" + std::to_string(dtype.code) + "bits" + std::to_string(dtype.bits) + "lanes" +
         std::to_string(dtype.lanes);
}

Dtype dtype_from_name(const std::string& name) {
  for (const auto& [known, dtype] : kNames) {
    if (known == name) return dtype;
  }
  throw ViewError("unknown dtype " + quoted(name));
}

bool has_format(Dtype dtype) {
  if (dtype.code == kDLComplex) return dtype.bits > 32;
  if (dtype == kObjects || dtype == kStrings) return true;
  return dtype.bits >= 8 && (dtype.code == kDLInt || dtype.code == kDLUInt ||
                             dtype.code == kDLFloat || dtype.code == kDLBool);
}

void require_dtype(Dtype dtype, bool padded) {
  if (dtype.bits == 0 || dtype.lanes == 0) {
    throw ViewError("dtype " + to_string(dtype) + " has no bits");
  }
  const bool six = dtype.code == kDLFloat6_e2m3fn || dtype.code == kDLFloat6_e3m2fn;
  if ((six && dtype.bits != 6) || (dtype.code == kDLFloat4_e2m1fn && dtype.bits != 4)) {
    throw ViewError("dtype " + to_string(dtype) + " has a width that its code does not allow");
  }
  if (dtype.bits * dtype.lanes % 8 != 0 && !padded) {
    throw UnknownFormatError("dtype " + to_string(dtype) + " " + kPacked);
  }
}

}  // namespace dlbench::exchange
