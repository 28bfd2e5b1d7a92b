//! f32 and f64 as storage: the arithmetic that the inner loops need, once for both.

use std::fmt::Debug;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

/// A stored number, f32 or f64.
///
/// `exp` is branch-free so that loops over it become vector code under run-time dispatch; it agrees
/// with the standard library to about two units in the last place.
pub trait Scalar:
    Copy
    + Debug
    + Default
    + PartialEq
    + PartialOrd
    + Send
    + Sync
    + Sum
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + faer::traits::ComplexField
    + 'static
{
    /// The distance from 1 to the next number.
    const UNIT: f64;
    /// The number of columns of a packed panel.
    const LANES: usize;
    /// Rounds an f64.
    fn narrow(x: f64) -> Self;
    /// Widens to f64.
    fn wide(self) -> f64;
    /// eˣ, vectorisable.
    fn exp(self) -> Self;
    /// Square root.
    fn sqrt(self) -> Self;
    /// Absolute value.
    fn abs(self) -> Self;
    /// The larger of two; NaN stays NaN, so that an overflow is not taken for a distance of zero.
    fn at_least(self, other: Self) -> Self;
    /// A whole power.
    fn powi(self, n: i32) -> Self;
    /// A real power.
    fn powf(self, p: f64) -> Self;
    /// Hyperbolic tangent.
    fn tanh(self) -> Self;
    /// sin(πx), vectorisable; good to a few units in the last place of 1.
    fn sine_of_pi(self) -> Self;

    /// The angle whose cosine this is, vectorisable: fdlibm's quotient for the arc sine, of x where |x| < ½ and of
    /// √((1 − |x|)/2) elsewhere, without branches.
    #[inline(always)]
    fn arc_cosine(self) -> Self {
        let n = Self::narrow;
        let (zero, half) = (Self::default(), n(0.5));
        let size = Scalar::abs(self);
        let small = size < half;
        let z = if small { self * self } else { half * (n(1.0) - size) };
        let mut p = n(3.479_331_075_960_212e-5);
        for c in [
            7.915_349_942_898_145e-4,
            -4.005_553_450_067_941e-2,
            2.012_125_321_348_629_3e-1,
            -3.255_658_186_224_009e-1,
            1.666_666_666_666_666_6e-1,
        ] {
            p = p * z + n(c);
        }
        let mut q = n(7.703_815_055_590_194e-2);
        for c in [-6.882_839_716_054_533e-1, 2.020_945_760_233_505_7, -2.403_394_911_734_414, 1.0] {
            q = q * z + n(c);
        }
        let quotient = p * z / q;
        let root = Scalar::sqrt(z.at_least(zero));
        let direct = n(std::f64::consts::FRAC_PI_2) - (self + self * quotient);
        let halved = n(2.0) * (root + root * quotient);
        let folded = if self < zero { n(std::f64::consts::PI) - halved } else { halved };
        if small { direct } else { folded }
    }
}

/// (−1)ᵏ π²ᵏ⁺¹/(2k + 1)!, from k = 10 down: the series of sin(πx)/x, exact enough for |x| ≤ ½.
const SINE: [f64; 11] = [
    5.392_664_662_608_129e-10,
    -2.294_842_899_726_985_6e-8,
    7.952_054_001_475_513e-7,
    -2.191_535_344_783_022e-5,
    4.663_028_057_676_125_6e-4,
    -7.370_430_945_714_351e-3,
    8.214_588_661_112_823e-2,
    -5.992_645_293_207_921e-1,
    2.550_164_039_877_345_4,
    -5.167_712_780_049_97,
    std::f64::consts::PI,
];

impl Scalar for f64 {
    const UNIT: f64 = f64::EPSILON;
    const LANES: usize = 32;
    #[inline(always)]
    fn narrow(x: f64) -> Self {
        x
    }
    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }
    /// Cody and Waite's reduction x = k ln 2 + r, a polynomial of degree 11 in r (interpolating at Chebyshev's points,
    /// relative error 1.3e-17), then 2ᵏ by adding to the exponent bits. Results below the smallest normal number are zero.
    #[inline(always)]
    fn exp(self) -> Self {
        const MAGIC: f64 = 6_755_399_441_055_744.0; // 1.5 · 2⁵²: rounds to an integer by addition
        const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
        const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
        const MIN_ARGUMENT: f64 = -708.39;
        const MAX_ARGUMENT: f64 = 709.782_712_893_383_9;
        // every step is fused: half the operations, and still the same bits on every processor
        let shifted = self.mul_add(std::f64::consts::LOG2_E, MAGIC);
        let k = shifted - MAGIC;
        let r = k.mul_add(-LN2_LOW, k.mul_add(-LN2_HIGH, self));
        let mut p = 2.510_038_549_551_032e-8_f64;
        p = p.mul_add(r, 2.762_008_844_540_974_6e-7);
        p = p.mul_add(r, 2.755_726_845_999_706_4e-6);
        p = p.mul_add(r, 2.480_152_129_595_437_6e-5);
        p = p.mul_add(r, 1.984_126_986_305_361_8e-4);
        p = p.mul_add(r, 1.388_888_891_721_371_7e-3);
        p = p.mul_add(r, 8.333_333_333_330_062e-3);
        p = p.mul_add(r, 4.166_666_666_662_413e-2);
        p = p.mul_add(r, 1.666_666_666_666_666_9e-1);
        p = p.mul_add(r, 0.5);
        p = (p * r).mul_add(r, r) + 1.0;
        // the low bits of `shifted` are k
        let scaled = f64::from_bits(p.to_bits().wrapping_add(shifted.to_bits() << 52));
        let scaled = if self < MIN_ARGUMENT { 0.0 } else { scaled };
        // NaN stays NaN
        if self <= MAX_ARGUMENT { scaled } else { self + f64::INFINITY }
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        f64::sqrt(self)
    }
    #[inline(always)]
    fn abs(self) -> Self {
        f64::abs(self)
    }
    #[inline(always)]
    fn at_least(self, other: Self) -> Self {
        if self < other { other } else { self }
    }
    #[inline(always)]
    fn powi(self, n: i32) -> Self {
        f64::powi(self, n)
    }
    #[inline(always)]
    fn powf(self, p: f64) -> Self {
        f64::powf(self, p)
    }
    #[inline(always)]
    fn tanh(self) -> Self {
        f64::tanh(self)
    }
    #[inline(always)]
    fn sine_of_pi(self) -> Self {
        const MAGIC: f64 = 6_755_399_441_055_744.0; // 1.5 · 2⁵²: rounds to an integer by addition
        let whole = (self + MAGIC) - MAGIC;
        let r = self - whole;
        let square = r * r;
        let sum = SINE.iter().fold(0.0, |sum: f64, &c| sum.mul_add(square, c)) * r;
        // sin(π(whole + r)) changes its sign with every whole number
        let twice = 0.5 * whole;
        if (twice + MAGIC) - MAGIC == twice { sum } else { -sum }
    }
}

impl Scalar for f32 {
    const UNIT: f64 = f32::EPSILON as f64;
    const LANES: usize = 64;
    #[inline(always)]
    fn narrow(x: f64) -> Self {
        x as f32
    }
    #[inline(always)]
    fn wide(self) -> f64 {
        f64::from(self)
    }
    /// As for f64, with a polynomial of degree 6 (relative error 7.9e-9).
    #[inline(always)]
    fn exp(self) -> Self {
        const MAGIC: f32 = 12_582_912.0; // 1.5 · 2²³
        const LN2_HIGH: f32 = 0.693_359_4;
        const LN2_LOW: f32 = -2.121_944_4e-4;
        const MIN_ARGUMENT: f32 = -87.33;
        const MAX_ARGUMENT: f32 = 88.722_83;
        let shifted = self.mul_add(std::f32::consts::LOG2_E, MAGIC);
        let k = shifted - MAGIC;
        let r = k.mul_add(-LN2_LOW, k.mul_add(-LN2_HIGH, self));
        let mut p = 1.392_618_4e-3_f32;
        p = p.mul_add(r, 8.363_179e-3);
        p = p.mul_add(r, 4.166_655_5e-2);
        p = p.mul_add(r, 1.666_657_7e-1);
        p = p.mul_add(r, 0.5);
        p = (p * r).mul_add(r, r) + 1.0;
        let scaled = f32::from_bits(p.to_bits().wrapping_add(shifted.to_bits() << 23));
        let scaled = if self < MIN_ARGUMENT { 0.0 } else { scaled };
        if self <= MAX_ARGUMENT { scaled } else { self + f32::INFINITY }
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        f32::sqrt(self)
    }
    #[inline(always)]
    fn abs(self) -> Self {
        f32::abs(self)
    }
    #[inline(always)]
    fn at_least(self, other: Self) -> Self {
        if self < other { other } else { self }
    }
    #[inline(always)]
    fn powi(self, n: i32) -> Self {
        f32::powi(self, n)
    }
    #[inline(always)]
    fn powf(self, p: f64) -> Self {
        f32::powf(self, p as f32)
    }
    #[inline(always)]
    fn tanh(self) -> Self {
        f32::tanh(self)
    }
    #[inline(always)]
    fn sine_of_pi(self) -> Self {
        const MAGIC: f32 = 12_582_912.0; // 1.5 · 2²³
        let whole = (self + MAGIC) - MAGIC;
        let r = self - whole;
        let square = r * r;
        let sum = SINE[4..].iter().fold(0.0, |sum: f32, &c| sum.mul_add(square, c as f32)) * r;
        let twice = 0.5 * whole;
        if (twice + MAGIC) - MAGIC == twice { sum } else { -sum }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_agrees_with_the_standard_library() {
        for i in -7080..=7090 {
            let x = f64::from(i) * 0.1 + 0.037;
            let (ours, theirs) = (Scalar::exp(x), f64::exp(x));
            assert!((ours - theirs).abs() <= 4.0 * f64::EPSILON * theirs, "{x}: {ours} {theirs}");
        }
        for i in -870..=880 {
            let x = i as f32 * 0.1 + 0.037;
            let (ours, theirs) = (Scalar::exp(x), f32::exp(x));
            assert!((ours - theirs).abs() <= 3.0 * f32::EPSILON * theirs, "{x}: {ours} {theirs}");
        }
    }

    #[test]
    fn sine_and_arc_cosine_agree_with_the_standard_library() {
        use std::f64::consts::PI;
        for i in -4000..=4000 {
            let x = f64::from(i) * 0.001_25;
            let wanted = (PI * (x - 2.0 * (0.5 * x).round())).sin();
            assert!((x.sine_of_pi() - wanted).abs() <= 1e-15, "{x}: {} {wanted}", x.sine_of_pi());
            let single = f64::from((x as f32).sine_of_pi());
            assert!((single - wanted).abs() <= 2e-6, "{x}: {single} {wanted}");
            let c = x / 5.0;
            assert!((c.arc_cosine() - c.acos()).abs() <= 4.0 * f64::EPSILON * (0.1 + c.acos()), "{c}");
            let single = (c as f32).arc_cosine();
            assert!((single - (c as f32).acos()).abs() <= 4.0 * f32::EPSILON * (0.1 + single), "{c}");
        }
        assert_eq!((1.0_f64.arc_cosine(), (-1.0_f64).arc_cosine()), (0.0, PI));
        for whole in [0.0_f64, 1.0, -3.0, 1e15, 1e300] {
            assert_eq!(whole.sine_of_pi(), 0.0);
        }
    }

    #[test]
    fn exp_is_right_at_the_edges() {
        assert_eq!(Scalar::exp(0.0_f64), 1.0);
        assert_eq!(Scalar::exp(-1e9_f64), 0.0);
        assert_eq!(Scalar::exp(f64::NEG_INFINITY), 0.0);
        assert_eq!(Scalar::exp(f64::INFINITY), f64::INFINITY);
        assert_eq!((Scalar::exp(-745.2_f64), Scalar::exp(709.8_f64)), (0.0, f64::INFINITY));
        assert_eq!((Scalar::exp(-104.0_f32), Scalar::exp(88.73_f32)), (0.0, f32::INFINITY));
        assert!(Scalar::exp(709.78_f64).is_finite() && Scalar::exp(88.72_f32).is_finite());
        assert!(Scalar::exp(f64::NAN).is_nan() && Scalar::exp(f32::NAN).is_nan());
        assert_eq!(Scalar::exp(0.0_f32), 1.0);
        assert_eq!(Scalar::exp(-1e9_f32), 0.0);
        assert_eq!(Scalar::exp(1e9_f32), f32::INFINITY);
        assert_eq!(Scalar::exp(-740.0_f64), 0.0, "subnormal results are zero");
        assert!(Scalar::exp(-708.38_f64) > 0.0 && Scalar::exp(-87.32_f32) > 0.0);
    }
}
