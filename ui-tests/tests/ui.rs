//! What an author reads.
//!
//! - `ui/pass`: what has to compile.
//! - `ui/macro`: mistakes that the attribute finds. The texts are its own, and the same on every toolchain.
//! - `ui/types`: mistakes that rustc finds in what is generated. The texts are rustc's in part, and change with it, so
//!   these run on one toolchain only: the one below.
//!
//! After a change, read each text as the one who made the mistake would, and then keep it with `TRYBUILD=overwrite`.

#[test]
fn pass() {
    trybuild::TestCases::new().pass("ui/pass/*.rs");
}

#[test]
fn mistakes_that_the_attribute_finds() {
    trybuild::TestCases::new().compile_fail("ui/macro/*.rs");
}

#[rustversion::stable(1.95)]
#[test]
fn mistakes_that_rustc_finds() {
    trybuild::TestCases::new().compile_fail("ui/types/*.rs");
}

#[rustversion::not(stable(1.95))]
#[test]
fn mistakes_that_rustc_finds() {
    println!("skipped: the texts in `ui/types` are those of rustc 1.95");
}
