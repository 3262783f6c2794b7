"""Functions of complex numbers: templates, see `raxis.codegen.helpers`; those of complex64 are rounded from complex128.

Source of the inverse functions and of tanh: Kahan, "Branch cuts for complex elementary functions" (1987).
"""

from __future__ import annotations

_BASIC = {
    "make": "$T rx_make_$s($R x, $R y) { $T z; z.re = x; z.im = y; return z; }",
    "add": "$T rx_add_$s($T x, $T y) { return rx_make_$s(x.re + y.re, x.im + y.im); }",
    "sub": "$T rx_sub_$s($T x, $T y) { return rx_make_$s(x.re - y.re, x.im - y.im); }",
    "mul": "$T rx_mul_$s($T x, $T y) { return rx_make_$s(x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re); }",
    "neg": "$T rx_neg_$s($T x) { return rx_make_$s(-x.re, -x.im); }",
    "conj": "$T rx_conj_$s($T x) { return rx_make_$s(x.re, -x.im); }",
    "eq": "i32 rx_eq_$s($T x, $T y) { return x.re == y.re && x.im == y.im; }",
    "abs": "$R rx_abs_$s($T x) { return $hypot(x.re, x.im); }",
    "wide_c64": "c128 rx_wide_c64(c64 x) { return rx_make_c128(x.re, x.im); }",
    "narrow_c64": "c64 rx_narrow_c64(c128 x) { return rx_make_c64((f32)x.re, (f32)x.im); }",
    # Smith's algorithm.
    "div_c128": """
c128 rx_div_c128(c128 x, c128 y) {
    if ($fabs(y.re) >= $fabs(y.im)) {
        if (y.re == 0 && y.im == 0) return rx_make_c128(x.re / $fabs(y.re), x.im / $fabs(y.re));
        const f64 ratio = y.im / y.re, size = 1 / (y.re + y.im * ratio);
        return rx_make_c128((x.re + x.im * ratio) * size, (x.im - x.re * ratio) * size);
    }
    const f64 ratio = y.re / y.im, size = 1 / (y.im + y.re * ratio);
    return rx_make_c128((x.re * ratio + x.im) * size, (x.im * ratio - x.re) * size);
}
""",
    "sign_c128": """
c128 rx_sign_c128(c128 x) {
    const f64 size = $hypot(x.re, x.im);
    if (!(size < rx_inf_f64())) return rx_make_c128(rx_nan_f64(), rx_nan_f64());
    return size == 0 ? x : rx_make_c128(x.re / size, x.im / size);
}
""",
    "exp_c128": """
c128 rx_exp_c128(c128 x) {
    if (x.im == 0) return rx_make_c128($exp(x.re), x.im);
    if (x.re == -rx_inf_f64() && !($fabs(x.im) < rx_inf_f64())) return rx_make_c128(0, 0);
    const f64 size = $exp(x.re);
    if (x.re == rx_inf_f64() && !($fabs(x.im) < rx_inf_f64())) return rx_make_c128(size, rx_nan_f64());
    return rx_make_c128(size * $cos(x.im), size * $sin(x.im));
}
""",
    "expm1_c128": """
c128 rx_expm1_c128(c128 x) {
    const f64 s = $sin(x.im / 2);
    return rx_make_c128($expm1(x.re) * $cos(x.im) - 2 * s * s, $exp(x.re) * $sin(x.im));
}
""",
    "log_c128": """
c128 rx_log_c128(c128 x) {
    const f64 large = $fmax($fabs(x.re), $fabs(x.im)), small = $fmin($fabs(x.re), $fabs(x.im));
    const f64 near = (large - 1) * (large + 1) + small * small;
    const f64 size = large > 0.5 && large < 2 ? $log1p(near) / 2 : $log($hypot(x.re, x.im));
    return rx_make_c128(size, $atan2(x.im, x.re));
}
""",
    "log1p_c128": """
c128 rx_log1p_c128(c128 x) {
    if (!($hypot(x.re, x.im) < 0.5)) return rx_log_c128(rx_make_c128(1 + x.re, x.im));
    return rx_make_c128($log1p(x.re * (2 + x.re) + x.im * x.im) / 2, $atan2(x.im, 1 + x.re));
}
""",
    "sqrt_c128": """
c128 rx_sqrt_c128(c128 x) {
    if (x.re == 0 && x.im == 0) return rx_make_c128(0, x.im);
    if ($fabs(x.im) == rx_inf_f64()) return rx_make_c128(rx_inf_f64(), x.im);
    if (x.re == -rx_inf_f64()) return rx_make_c128(x.im == x.im ? 0 : x.im, $copysign(rx_inf_f64(), x.im));
    if (x.re == rx_inf_f64()) return rx_make_c128(x.re, x.im == x.im ? $copysign(0.0, x.im) : x.im);
    const f64 root = 2 * $sqrt($fabs(x.re) / 8 + $hypot(x.re / 8, x.im / 8)), other = $fabs(x.im) / (2 * root);
    return x.re >= 0 ? rx_make_c128(root, $copysign(other, x.im)) : rx_make_c128(other, $copysign(root, x.im));
}
""",
    "rsqrt_c128": "c128 rx_rsqrt_c128(c128 x) { return rx_div_c128(rx_make_c128(1, 0), rx_sqrt_c128(x)); }",
    "sinh_c128": """
c128 rx_sinh_c128(c128 x) { return rx_make_c128($sinh(x.re) * $cos(x.im), $cosh(x.re) * $sin(x.im)); }
""",
    "cosh_c128": """
c128 rx_cosh_c128(c128 x) { return rx_make_c128($cosh(x.re) * $cos(x.im), $sinh(x.re) * $sin(x.im)); }
""",
    "tanh_c128": """
c128 rx_tanh_c128(c128 x) {
    if ($fabs(x.re) > 20) return rx_make_c128($copysign(1.0, x.re), $copysign(0.0, $sin(2 * x.im)));
    const f64 t = $tan(x.im), beta = 1 + t * t, s = $sinh(x.re), rho = $sqrt(1 + s * s), below = 1 + beta * s * s;
    return rx_make_c128(beta * rho * s / below, t / below);
}
""",
    "asinh_c128": "c128 rx_asinh_c128(c128 x) { return rx_turned_back_c128(rx_asin_c128(rx_turned_c128(x))); }",
    "atan_c128": "c128 rx_atan_c128(c128 x) { return rx_turned_back_c128(rx_atanh_c128(rx_turned_c128(x))); }",
    "sin_c128": "c128 rx_sin_c128(c128 x) { return rx_turned_back_c128(rx_sinh_c128(rx_turned_c128(x))); }",
    "cos_c128": "c128 rx_cos_c128(c128 x) { return rx_cosh_c128(rx_turned_c128(x)); }",
    "tan_c128": "c128 rx_tan_c128(c128 x) { return rx_turned_back_c128(rx_tanh_c128(rx_turned_c128(x))); }",
    # Products with i and -i.
    "turned": "$T rx_turned_$s($T x) { return rx_make_$s(-x.im, x.re); }",
    "turned_back": "$T rx_turned_back_$s($T x) { return rx_make_$s(x.im, -x.re); }",
    "asin_c128": """
c128 rx_asin_c128(c128 x) {
    const c128 a = rx_sqrt_c128(rx_make_c128(1 - x.re, -x.im)), b = rx_sqrt_c128(rx_make_c128(1 + x.re, x.im));
    return rx_make_c128($atan2(x.re, a.re * b.re - a.im * b.im), $asinh(a.re * b.im - a.im * b.re));
}
""",
    "acos_c128": """
c128 rx_acos_c128(c128 x) {
    const c128 a = rx_sqrt_c128(rx_make_c128(1 - x.re, -x.im)), b = rx_sqrt_c128(rx_make_c128(1 + x.re, x.im));
    return rx_make_c128(2 * $atan2(a.re, b.re), $asinh(b.re * a.im - b.im * a.re));
}
""",
    "acosh_c128": """
c128 rx_acosh_c128(c128 x) {
    const c128 a = rx_sqrt_c128(rx_make_c128(x.re - 1, x.im)), b = rx_sqrt_c128(rx_make_c128(x.re + 1, x.im));
    return rx_make_c128($asinh(a.re * b.re + a.im * b.im), 2 * $atan2(a.im, b.re));
}
""",
    "atanh_c128": """
c128 rx_atanh_c128(c128 x) {
    const f64 below = (1 - x.re) * (1 - x.re) + x.im * x.im;
    return rx_make_c128($log1p(4 * x.re / below) / 4, $atan2(2 * x.im, (1 - x.re) * (1 + x.re) - x.im * x.im) / 2);
}
""",
    "pow_c128": """
c128 rx_pow_c128(c128 x, c128 y) {
    if (y.re == 0 && y.im == 0) return rx_make_c128(1, 0);
    if (x.re == 0 && x.im == 0)
        return y.re > 0 && y.im == 0 ? rx_make_c128(0, 0) : rx_make_c128(rx_nan_f64(), rx_nan_f64());
    if (y.im == 0 && y.re == $rint(y.re) && $fabs(y.re) < 100) {
        c128 power = rx_make_c128(1, 0), square = x;
        for (i32 left = (i32)$fabs(y.re); left; left >>= 1) {
            if (left & 1) power = rx_mul_c128(power, square);
            square = rx_mul_c128(square, square);
        }
        return y.re < 0 ? rx_div_c128(rx_make_c128(1, 0), power) : power;
    }
    return rx_exp_c128(rx_mul_c128(y, rx_log_c128(x)));
}
""",
}

WIDE = (
    "exp", "expm1", "log", "log1p", "sqrt", "rsqrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh",
    "tanh", "asinh", "acosh", "atanh", "sign",
)  # fmt: skip
"""Functions of one complex number."""


def _rounded(name: str, count: int) -> str:
    names = "xy"[:count]
    parameters = ", ".join(f"c64 {letter}" for letter in names)
    arguments = ", ".join(f"rx_wide_c64({letter})" for letter in names)
    return f"c64 rx_{name}_c64({parameters}) {{ return rx_narrow_c64(rx_{name}_c128({arguments})); }}"


TEMPLATES = {
    **_BASIC,
    **{f"{name}_c64": _rounded(name, 1) for name in WIDE},
    **{f"{name}_c64": _rounded(name, 2) for name in ("div", "pow")},
}
