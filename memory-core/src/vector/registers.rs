//! Sums in the widest vector registers of the processor.
//!
//! The compiler turns plain loops over sixteen numbers into steps of four, so the instructions are chosen explicitly, through
//! pulp's safe wrappers. Products and sums are never fused, and there are always the same sixteen parallel sums, so every
//! width gives the same numbers.

use super::codes::{CODES, Codes, Wide};
use super::lanes::{LANES, Lanes};

/// A width of registers.
pub(super) trait Form: Copy {
    /// Sixteen sums.
    type Floats: Copy;
    /// Integer sums, as many as fit.
    type Ints: Copy;

    fn floats(self) -> Self::Floats;

    /// Multiplies element by element, and adds.
    fn add_products(self, sums: Self::Floats, a: &Lanes, b: &Lanes) -> Self::Floats;

    fn lanes(self, sums: Self::Floats) -> Lanes;

    fn ints(self) -> Self::Ints;

    fn add_codes(self, sums: Self::Ints, sought: &Wide, codes: &Codes) -> Self::Ints;

    fn total(self, sums: Self::Ints) -> i32;
}

/// A computation in registers of any width.
pub(super) trait Work {
    type Output;

    fn work<F: Form>(self, form: F) -> Self::Output;
}

/// Runs `work` in the widest registers of the processor.
pub(super) fn widest<W: Work>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    {
        if let Some(form) = pulp::x86::V4::try_new() {
            return form.vectorize(x86::In { form, work });
        }
        if let Some(form) = pulp::x86::V3::try_new() {
            return form.vectorize(x86::In { form, work });
        }
    }
    work.work(Plain)
}

/// Sums, for the rows of four streams at once, what `add` makes of each block of `sought` and of the row. Each place of `out`
/// gets what `total` makes of the sums of one row of each stream.
///
/// Uses four streams because memory is read faster that way than in one.
#[inline(always)]
pub(super) fn side_by_side<P, R, S: Copy, T>(
    (sought, streams): (&[P], [&[R]; 4]),
    out: &mut [[T; 4]],
    none: S,
    add: impl Fn(S, &P, &R) -> S,
    total: impl Fn(S) -> T,
) {
    let [a, b, c, d] = streams.map(|stream| stream.chunks_exact(sought.len().max(1)));
    for (out, ((a, b), (c, d))) in out.iter_mut().zip(a.zip(b).zip(c.zip(d))) {
        let [mut sum_a, mut sum_b, mut sum_c, mut sum_d] = [none; 4];
        for (sought, ((a, b), (c, d))) in sought.iter().zip(a.iter().zip(b).zip(c.iter().zip(d))) {
            sum_a = add(sum_a, sought, a);
            sum_b = add(sum_b, sought, b);
            sum_c = add(sum_c, sought, c);
            sum_d = add(sum_d, sought, d);
        }
        *out = [sum_a, sum_b, sum_c, sum_d].map(&total);
    }
}

/// Runs work in every width that this processor supports.
#[cfg(test)]
pub(super) fn every<W: Work>(work: impl Fn() -> W) -> Vec<W::Output> {
    let mut done = vec![work().work(Plain), widest(work())];
    #[cfg(target_arch = "x86_64")]
    done.extend(pulp::x86::V3::try_new().map(|form| form.vectorize(x86::In { form, work: work() })));
    done
}

/// Plain loops, as the compiler translates them.
#[derive(Clone, Copy)]
struct Plain;

impl Form for Plain {
    type Floats = [f32; LANES];
    type Ints = [i32; CODES];

    #[inline(always)]
    fn floats(self) -> Self::Floats {
        [0.0; LANES]
    }

    #[inline(always)]
    fn add_products(self, mut sums: Self::Floats, Lanes(a): &Lanes, Lanes(b): &Lanes) -> Self::Floats {
        for (sum, (a, b)) in sums.iter_mut().zip(a.iter().zip(b)) {
            *sum += a * b;
        }
        sums
    }

    #[inline(always)]
    fn lanes(self, sums: Self::Floats) -> Lanes {
        Lanes(sums)
    }

    #[inline(always)]
    fn ints(self) -> Self::Ints {
        [0; CODES]
    }

    #[inline(always)]
    fn add_codes(self, mut sums: Self::Ints, Wide(sought): &Wide, Codes(codes): &Codes) -> Self::Ints {
        for (sum, (sought, code)) in sums.iter_mut().zip(sought.iter().zip(codes)) {
            *sum += i32::from(*sought) * i32::from(*code);
        }
        sums
    }

    #[inline(always)]
    fn total(self, sums: Self::Ints) -> i32 {
        sums.iter().sum()
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{__m128i, __m256, __m256i, __m512, __m512i};

    use pulp::x86::{V3, V4};
    use pulp::{NullaryFnOnce, cast};

    use super::{Codes, Form, Lanes, Wide, Work};

    pub(super) struct In<F, W> {
        pub(super) form: F,
        pub(super) work: W,
    }

    impl<F: Form, W: Work> NullaryFnOnce for In<F, W> {
        type Output = W::Output;

        #[inline(always)]
        fn call(self) -> W::Output {
            self.work.work(self.form)
        }
    }

    /// AVX-512: sixteen numbers in a register.
    impl Form for V4 {
        type Floats = __m512;
        type Ints = __m512i;

        #[inline(always)]
        fn floats(self) -> __m512 {
            cast([0f32; 16])
        }

        #[inline(always)]
        fn add_products(self, sums: __m512, Lanes(a): &Lanes, Lanes(b): &Lanes) -> __m512 {
            self.avx512f._mm512_add_ps(sums, self.avx512f._mm512_mul_ps(cast(*a), cast(*b)))
        }

        #[inline(always)]
        fn lanes(self, sums: __m512) -> Lanes {
            Lanes(cast(sums))
        }

        #[inline(always)]
        fn ints(self) -> __m512i {
            cast([0i32; 16])
        }

        #[inline(always)]
        fn add_codes(self, sums: __m512i, Wide(sought): &Wide, Codes(codes): &Codes) -> __m512i {
            let codes = self.avx512bw._mm512_cvtepi8_epi16(cast(*codes));
            self.avx512f._mm512_add_epi32(sums, self.avx512bw._mm512_madd_epi16(cast(*sought), codes))
        }

        #[inline(always)]
        fn total(self, sums: __m512i) -> i32 {
            cast::<__m512i, [i32; 16]>(sums).iter().sum()
        }
    }

    /// AVX2: eight numbers in a register.
    impl Form for V3 {
        type Floats = [__m256; 2];
        type Ints = __m256i;

        #[inline(always)]
        fn floats(self) -> [__m256; 2] {
            cast([0f32; 16])
        }

        #[inline(always)]
        fn add_products(self, [low, high]: [__m256; 2], Lanes(a): &Lanes, Lanes(b): &Lanes) -> [__m256; 2] {
            let ([a_low, a_high], [b_low, b_high]): ([__m256; 2], [__m256; 2]) = (cast(*a), cast(*b));
            let low = self.avx._mm256_add_ps(low, self.avx._mm256_mul_ps(a_low, b_low));
            [low, self.avx._mm256_add_ps(high, self.avx._mm256_mul_ps(a_high, b_high))]
        }

        #[inline(always)]
        fn lanes(self, sums: [__m256; 2]) -> Lanes {
            Lanes(cast(sums))
        }

        #[inline(always)]
        fn ints(self) -> __m256i {
            cast([0i32; 8])
        }

        #[inline(always)]
        fn add_codes(self, sums: __m256i, Wide(sought): &Wide, Codes(codes): &Codes) -> __m256i {
            let ([low, high], [sought_low, sought_high]): ([__m128i; 2], [__m256i; 2]) = (cast(*codes), cast(*sought));
            let low = self.avx2._mm256_madd_epi16(sought_low, self.avx2._mm256_cvtepi8_epi16(low));
            let high = self.avx2._mm256_madd_epi16(sought_high, self.avx2._mm256_cvtepi8_epi16(high));
            self.avx2._mm256_add_epi32(self.avx2._mm256_add_epi32(sums, low), high)
        }

        #[inline(always)]
        fn total(self, sums: __m256i) -> i32 {
            cast::<__m256i, [i32; 8]>(sums).iter().sum()
        }
    }
}
