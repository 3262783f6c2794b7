"""Functions of integers, conversions of half precision, order of elements: templates, see `raxis.codegen.helpers`."""

from __future__ import annotations

TEMPLATES = {
    "idiv": "$T rx_idiv_$s($T x, $T y) { return y == ($T)-1 ? ($T)(0 - ($U)x) : ($T)(x / y); }",
    "idiv_u8": "u8 rx_idiv_u8(u8 x, u8 y) { return x / y; }",
    "imod": "$T rx_imod_$s($T x, $T y) { return y == ($T)-1 ? 0 : ($T)(x % y); }",
    "imod_u8": "u8 rx_imod_u8(u8 x, u8 y) { return x % y; }",
    "ifloor": """
$T rx_ifloor_$s($T x, $T y) {
    const $T rest = rx_imod_$s(x, y);
    return ($T)(rx_idiv_$s(x, y) - (rest != 0 && (rest < 0) != (y < 0)));
}
""",
    "iremainder": """
$T rx_iremainder_$s($T x, $T y) {
    const $T rest = rx_imod_$s(x, y);
    return ($T)(rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest);
}
""",
    "ipow": """
$T rx_ipow_$s($T x, $T y) {
    if (y < 0) return x == 1 ? 1 : x == ($T)-1 ? (y & 1 ? ($T)-1 : 1) : 0;
    u64 power = 1, square = (u64)x;
    for ($T left = y; left; left >>= 1) {
        if (left & 1) power *= square;
        square *= square;
    }
    return ($T)power;
}
""",
    "shift_left": """
$T rx_shift_left_$s($T x, $T y) { return y < 0 || y >= $bits ? 0 : ($T)(($U)x << y); }
""",
    "shift_right": """
$T rx_shift_right_$s($T x, $T y) { return y < 0 || y >= $bits ? ($T)(x < 0 ? -1 : 0) : ($T)(x >> y); }
""",
    "load_f16": """
f32 rx_load_f16(u16 h) {
    const u32 sign = (u32)(h & 0x8000u) << 16, exponent = (h >> 10) & 31u, fraction = h & 1023u;
    if (exponent == 0) return rx_real_f32(sign | rx_bits_f32((f32)fraction * 5.9604644775390625e-8f));
    if (exponent == 31) return rx_real_f32(sign | 0x7f800000u | (fraction << 13));
    return rx_real_f32(sign | ((exponent + 112u) << 23) | (fraction << 13));
}
""",
    # Below the normal numbers, adding 0.5 leaves the fraction, rounded, in the low bits.
    "store_f16": """
u16 rx_store_f16(f32 x) {
    const u32 bits = rx_bits_f32(x), magnitude = bits & 0x7fffffffu;
    const u16 sign = (u16)((bits >> 16) & 0x8000u);
    if (magnitude > 0x7f800000u) return (u16)(sign | 0x7e00u);
    if (magnitude >= 0x477ff000u) return (u16)(sign | 0x7c00u);
    if (magnitude < 0x38800000u)
        return (u16)(sign | (u16)(rx_bits_f32(rx_real_f32(magnitude) + 0.5f) - 0x3f000000u));
    return (u16)(sign | (u16)((magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u)) >> 13));
}
""",
    "round_f16": "f32 rx_round_f16(f32 x) { return rx_load_f16(rx_store_f16(x)); }",
    "load_bf16": "f32 rx_load_bf16(u16 h) { return rx_real_f32((u32)h << 16); }",
    "store_bf16": """
u16 rx_store_bf16(f32 x) {
    const u32 bits = rx_bits_f32(x);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return (u16)((bits >> 16) | 0x40u);
    return (u16)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}
""",
    "round_bf16": "f32 rx_round_bf16(f32 x) { return rx_load_bf16(rx_store_bf16(x)); }",
    # Whether candidate 2 comes before candidate 1; position -1 is no candidate.
    "before_max": """
i32 rx_before_max_$s($T x2, i64 at2, $T x1, i64 at1) {
    if (at2 < 0 || at1 < 0) return at2 >= 0;
    return x2 > x1 || (x2 == x1 && at2 < at1);
}
""",
    "before_min": """
i32 rx_before_min_$s($T x2, i64 at2, $T x1, i64 at1) {
    if (at2 < 0 || at1 < 0) return at2 >= 0;
    return x2 < x1 || (x2 == x1 && at2 < at1);
}
""",
    "precedes": "i32 rx_precedes_$s($T x, $T y) { return x < y; }",
    # Salmon et al., Parallel random numbers: as easy as 1, 2, 3 (2011).
    "philox_u32": """
u32 rx_philox_u32(u64 key, u64 block, u32 word) {
    u32 k0 = (u32)key, k1 = (u32)(key >> 32), c0 = (u32)block, c1 = (u32)(block >> 32), c2 = 0, c3 = 0;
    for (u32 round = 0; round < 10; ++round) {
        const u64 left = (u64)c0 * 0xD2511F53u, right = (u64)c2 * 0xCD9E8D57u;
        c0 = (u32)(right >> 32) ^ c1 ^ k0;
        c2 = (u32)(left >> 32) ^ c3 ^ k1;
        c1 = (u32)right;
        c3 = (u32)left;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return word == 0 ? c0 : word == 1 ? c1 : word == 2 ? c2 : c3;
}
""",
    "random_i32": """
i32 rx_random_i32(i64 key, i64 offset, i64 at) {
    return (i32)rx_philox_u32((u64)key, (u64)offset + (u64)(at >> 2), (u32)(at & 3));
}
""",
    "random_i64": """
i64 rx_random_i64(i64 key, i64 offset, i64 at) {
    const u64 block = (u64)offset + (u64)(at >> 1);
    const u32 word = (u32)(at & 1) * 2;
    return (i64)(((u64)rx_philox_u32((u64)key, block, word + 1) << 32) | rx_philox_u32((u64)key, block, word));
}
""",
}
