use std::collections::HashMap;
use std::fmt::{self, Display};

#[derive(Debug, Clone)]
pub struct Item {
    name: String,
    price: f64,
}

pub trait Store {
    fn load(&self, id: &str) -> Option<&Item>;
}

pub struct Cart<'a> {
    owner: &'a str,
    items: Vec<Item>,
}

impl<'a> Store for Cart<'a> {
    fn load(&self, id: &str) -> Option<&Item> {
        self.items.iter().find(|i| i.name == id)
    }
}

impl<'a> Cart<'a> {
    pub fn new(owner: &'a str) -> Self {
        Cart { owner, items: vec![] }
    }

    pub fn add(&mut self, item: Item, count: usize) -> Result<(), String> {
        if count > 20 {
            return Err(format!("too many: {}", count));
        }
        for _ in 0..count {
            self.items.push(item.clone());
        }
        Ok(())
    }

    fn total(&self) -> f64 {
        let mut sum = 0.0;
        for item in &self.items {
            sum += item.price * 2.0;
        }
        sum
    }
}

fn main() {
    let mut cart = Cart::new("me");
    cart.add(Item { name: "a".to_string(), price: 1.0 }, 2).unwrap();
    match cart.load("a") {
        Some(item) if item.price > 0.0 => println!("{:?}", item),
        _ => println!("none {}", cart.total()),
    }
}
