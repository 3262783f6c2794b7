"""Functions of real numbers: templates, see `raxis.codegen.helpers`.

Sources: erfinv: Winitzki, "A handy approximation for the error function and its inverse" (2008) as a first value, then
Halley's steps on erf and, in the tails, erfc. digamma: Abramowitz & Stegun 6.3.5, 6.3.7 and 6.3.18.
"""

from __future__ import annotations

_PRECEDES = "i32 rx_precedes_$s($T x, $T y) { return x < y || (x == x && y != y); }"


def _before(kind: str, symbol: str) -> str:
    """Whether candidate 2 comes before candidate 1, where NaN comes first; position -1 is no candidate."""
    return f"""
i32 rx_before_{kind}_$s($T x2, i64 at2, $T x1, i64 at1) {{
    if (at2 < 0 || at1 < 0) return at2 >= 0;
    if (x2 != x2 || x1 != x1) return x2 != x2 && (x1 == x1 || at2 < at1);
    return x2 {symbol} x1 || (x2 == x1 && at2 < at1);
}}
"""


TEMPLATES = {
    "inf": "$T rx_inf_$s(void) { return ($T)rx_real_f32(0x7f800000u); }",
    "nan": "$T rx_nan_$s(void) { return ($T)rx_real_f32(0x7fc00000u); }",
    "sign": "$T rx_sign_$s($T x) { return ($T)(x > 0) - ($T)(x < 0); }",
    "sigmoid": """
$T rx_sigmoid_$s($T x) {
    const $T decayed = $exp(-$fabs(x));
    return (x < 0 ? decayed : 1) / (1 + decayed);
}
""",
    "maximum": "$T rx_maximum_$s($T x, $T y) { return x != x || x > y ? x : y; }",
    "minimum": "$T rx_minimum_$s($T x, $T y) { return x != x || x < y ? x : y; }",
    "floor_divide": """
$T rx_floor_divide_$s($T x, $T y) {
    if (y == 0) return x / y;
    const $T rest = $fmod(x, y);
    $T quotient = (x - rest) / y;
    if (rest != 0 && (rest < 0) != (y < 0)) quotient -= 1;
    if (quotient == 0) return $copysign(($T)0, x / y);
    const $T whole = $floor(quotient);
    return quotient - whole > ($T)0.5 ? whole + 1 : whole;
}
""",
    "remainder": """
$T rx_remainder_$s($T x, $T y) {
    const $T rest = $fmod(x, y);
    if (rest == 0) return $copysign(($T)0, y);
    return (rest < 0) != (y < 0) ? rest + y : rest;
}
""",
    "lgamma": """
$T rx_lgamma_$s($T x) {
    if (x == -rx_inf_$s() || (x <= 0 && x == $floor(x))) return rx_inf_$s();
    return $lgamma(x);
}
""",
    "erf": "$T rx_erf_$s($T x) { return x == 0 ? x : $erf(x); }",
    "erfinv_f32": "f32 rx_erfinv_f32(f32 x) { return (f32)rx_erfinv_f64((f64)x); }",
    "erfinv": """
$T rx_erfinv_$s($T x) {
    if (!($fabs(x) < 1)) return $fabs(x) == 1 ? x * rx_inf_$s() : rx_nan_$s();
    const $T left = (1 - x) * (1 + x), w = -$log(left), a = ($T)0.147;
    const $T b = 2 / (($T)3.14159265358979323846 * a) - w / 2;
    $T y = $copysign($sqrt($sqrt(b * b + w / a) - b), x);
    for (i32 step = 0; step < 4; ++step) {
        const $T error = $fabs(x) > ($T)0.5
            ? (x < 0 ? -1 : 1) * ((1 - $fabs(x)) - $erfc($fabs(y))) : $erf(y) - x;
        const $T change = error / (($T)1.12837916709551257390 * $exp(-y * y));
        y -= change / (1 + y * change);
    }
    return x == 0 ? x : y;
}
""",
    "digamma_f32": "f32 rx_digamma_f32(f32 x) { return (f32)rx_digamma_f64((f64)x); }",
    "digamma": """
$T rx_digamma_$s($T x) {
    const $T pi = ($T)3.14159265358979323846;
    $T sum = 0;
    if (x == 0) return $copysign(rx_inf_$s(), -x);
    if (x < 0) {
        if (x == $floor(x)) return rx_nan_$s();
        const $T within = x - $rint(x);
        sum = -pi / $tan(pi * within);
        x = 1 - x;
    }
    if (x == rx_inf_$s()) return sum + x;
    for (; x < 10; x += 1) sum -= 1 / x;
    const $T z = 1 / (x * x);
    const $T series = z * (($T)(1.0 / 12) - z * (($T)(1.0 / 120) - z * (($T)(1.0 / 252) - z * (($T)(1.0 / 240)
        - z * (($T)(1.0 / 132) - z * (($T)(691.0 / 32760) - z * ($T)(1.0 / 12)))))));
    return sum + $log(x) - ($T)0.5 / x - series;
}
""",
    # NaN counts as the greatest.
    "precedes_f32": _PRECEDES,
    "precedes_f64": _PRECEDES,
    **{
        f"before_{kind}_{suffix}": _before(kind, symbol)
        for kind, symbol in (("max", ">"), ("min", "<"))
        for suffix in ("f32", "f64")
    },
    "nextafter": "$T rx_nextafter_$s($T x, $T y) { return $nextafter(x, y); }",
    "step_up": """
u16 rx_step_up_$s(u16 x, i32 direction) {
    return (u16)((x & 0x7fffu) == 0 ? (direction > 0 ? 1u : 0x8001u)
        : (direction > 0) == ((x & 0x8000u) == 0) ? x + 1u : x - 1u);
}
""",
    "nextafter_f16": """
f32 rx_nextafter_f16(f32 x, f32 y) {
    if (x != x || y != y || x == y) return x == y ? y : x + y;
    return rx_load_f16(rx_step_up_u16(rx_store_f16(x), x < y ? 1 : -1));
}
""",
    "nextafter_bf16": """
f32 rx_nextafter_bf16(f32 x, f32 y) {
    if (x != x || y != y || x == y) return x == y ? y : x + y;
    return rx_load_bf16(rx_step_up_u16(rx_store_bf16(x), x < y ? 1 : -1));
}
""",
    # The conversion is undefined outside the range.
    "to_i64": """
i64 rx_to_i64_$s($T x) {
    return x >= ($T)-9223372036854775808.0 && x < ($T)9223372036854775808.0 ? (i64)x : (i64)((u64)1 << 63);
}
""",
    "to_i32": """
i32 rx_to_i32_$s($T x) { return x > ($T)-2147483649.0 && x < ($T)2147483648.0 ? (i32)x : (i32)((u32)1 << 31); }
""",
    "to_i32_f32": """
i32 rx_to_i32_f32(f32 x) { return x >= -2147483648.0f && x < 2147483648.0f ? (i32)x : (i32)((u32)1 << 31); }
""",
}
