package shop

import scala.collection.mutable

case class Item(name: String, price: Double)

trait Store {
  def load(id: String): Option[Item]
}

class Cart(owner: String) extends Store {
  private val items = mutable.ListBuffer[Item]()

  def add(item: Item, count: Int = 1): Cart = {
    for (i <- 0 until count) {
      items += item
    }
    this
  }

  override def load(id: String): Option[Item] = items.find(_.name == id)

  def total: Double = items.map(_.price).sum
}

object Main {
  def describe(x: Any): String = x match {
    case Item(name, _) => name
    case s: String if s.nonEmpty => s.toUpperCase
    case _ => "unknown"
  }

  def main(args: Array[String]): Unit = {
    val cart = new Cart("me")
    cart.add(Item("a", 1.0), 2).add(Item("b", 2.0))
    if (cart.total > 3) println(describe(cart)) else println("small")
    println(List(1, 2, 3).map(x => x * 2).filter(_ > 2))
  }
}
