package org.example.shop

import scala.collection.mutable

// A cart.
class Cart(prices: mutable.Buffer[Int]) {
  def total: Int = prices.sum
}
object Main extends App {
  println(new Cart(mutable.Buffer(1, 2)).total)
}
