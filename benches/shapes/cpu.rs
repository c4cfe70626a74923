//! What the CPU of this process can do.

/// The features by which code chooses at run time, as this process sees them.
pub(crate) fn features() -> String {
    let mut found = vec![std::env::consts::ARCH];
    #[cfg(target_arch = "x86_64")]
    {
        macro_rules! detect {
            ($($name:tt)+) => {$(
                if is_x86_feature_detected!($name) {
                    found.push($name);
                }
            )+};
        }
        detect! { "ssse3" "sse4.2" "avx" "avx2" "bmi1" "bmi2" "avx512f" "avx512bw" "avx512vbmi" "ermsb" }
    }
    found.join(" ")
}
