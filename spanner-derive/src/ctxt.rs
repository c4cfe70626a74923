//! Collects problems, so that one compile shows them all.

use std::cell::RefCell;
use std::fmt::Display;

use proc_macro2::Span;

/// The problems found so far. [`check`](Self::check) must be called before it
/// is dropped, so that none can get lost.
#[derive(Debug)]
pub(crate) struct Ctxt {
    /// `None` once checked.
    errors: RefCell<Option<Vec<syn::Error>>>,
}

impl Ctxt {
    pub(crate) fn new() -> Self {
        Self {
            errors: RefCell::new(Some(Vec::new())),
        }
    }

    /// Reports a problem at `span`.
    pub(crate) fn error(&self, span: Span, message: impl Display) {
        self.push(syn::Error::new(span, message));
    }

    pub(crate) fn push(&self, error: syn::Error) {
        if let Some(errors) = &mut *self.errors.borrow_mut() {
            errors.push(error);
        }
    }

    /// How many problems there are so far.
    pub(crate) fn problems(&self) -> usize {
        self.errors.borrow().as_ref().map_or(0, Vec::len)
    }

    /// All problems in one, in the order in which they were found.
    pub(crate) fn check(self) -> syn::Result<()> {
        let mut errors = self.errors.take().into_iter().flatten();
        match errors.next() {
            None => Ok(()),
            Some(mut all) => {
                all.extend(errors);
                Err(all)
            }
        }
    }
}

impl Drop for Ctxt {
    fn drop(&mut self) {
        assert!(
            self.errors.get_mut().is_none() || std::thread::panicking(),
            "problems were collected but not checked"
        );
    }
}
