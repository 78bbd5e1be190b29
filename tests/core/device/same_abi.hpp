#pragma once

#include <type_traits>

namespace dlbench::device {

template <typename T>
concept Complete = requires {
  sizeof(T);
};

/// Whether both are passed alike: vendors have enums and handles where dlbench has int and void*.
template <typename A, typename B>
consteval bool same_value() {
  if constexpr (std::is_pointer_v<A> && std::is_pointer_v<B>) {
    using PointeeA = std::remove_cv_t<std::remove_pointer_t<A>>;
    using PointeeB = std::remove_cv_t<std::remove_pointer_t<B>>;
    if constexpr (std::is_void_v<PointeeA> || std::is_void_v<PointeeB>)
      return true;
    else if constexpr (Complete<PointeeA> && Complete<PointeeB>)
      return sizeof(PointeeA) == sizeof(PointeeB);
    else
      return true;
  } else if constexpr (std::is_floating_point_v<A> || std::is_floating_point_v<B>) {
    return std::is_same_v<A, B>;
  } else {
    return std::is_pointer_v<A> == std::is_pointer_v<B> && sizeof(A) == sizeof(B);
  }
}

template <typename F, typename G>
struct SameAbi : std::false_type {};
template <typename R, typename... A, typename S, typename... B>
requires(sizeof...(A) == sizeof...(B)) struct SameAbi<R (*)(A...), S (*)(B...)>
    : std::bool_constant<same_value<R, S>() && (same_value<A, B>() && ...)> {
};
template <typename R, typename... A, typename S, typename... B>
requires(sizeof...(A) == sizeof...(B)) struct SameAbi<R (*)(A...), S (*)(B...) noexcept>
    : SameAbi<R (*)(A...), S (*)(B...)> {
};

static_assert(SameAbi<int (*)(void*, int), int (*)(int*, unsigned)>::value);
static_assert(!SameAbi<int (*)(void*, int), int (*)(int, unsigned)>::value);
static_assert(!SameAbi<int (*)(void*, int), int (*)(int*)>::value);
static_assert(!SameAbi<int (*)(long), int (*)(int)>::value);
static_assert(!SameAbi<int (*)(long*), int (*)(int*)>::value);
static_assert(!SameAbi<int (*)(float), int (*)(int)>::value);

}  // namespace dlbench::device
