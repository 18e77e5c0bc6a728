use std::collections::{HashMap, HashSet as Set};
/// A cart.
#[derive(Debug)]
pub struct Cart { prices: Vec<u32> }
impl Cart {
    pub fn total(&self) -> u32 { self.prices.iter().sum() }
}
fn main() {
    let m: HashMap<u8, Set<u8>> = HashMap::new(); // empty
    println!("{:?} {}", m, Cart { prices: vec![1] }.total());
}
