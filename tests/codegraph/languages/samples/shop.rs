//! A shop.
use std::fmt;

/// What is bought.
#[derive(Debug)]
pub struct Cart<T> {
    items: Vec<T>,
}

pub enum State { Open, Paid(u32) }
pub type Cents = u64;

pub trait Named: fmt::Debug + Sized {
    fn name(&self) -> String;
    fn short(&self) -> String { self.name() }
}

impl<T> Cart<T> {
    pub fn add(&mut self, item: T) -> usize {
        fn check(x: u32) -> bool { x > 0 }
        self.items.push(item);
        Self::total(1)
    }

    fn total(x: usize) -> usize { helper(x) }
}

impl<T> Named for Cart<T> {
    fn name(&self) -> String { "größe".into() }
}

mod money {
    pub fn parse() {}
}

macro_rules! twice { ($x:expr) => { $x + $x } }

async fn helper(x: usize) -> usize { twice!(x) }
