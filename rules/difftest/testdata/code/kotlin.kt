package shop

import java.util.Date
import kotlin.math.max

data class Item(val name: String, val price: Double)

interface Store {
    fun load(id: String): Item?
}

class Cart(private val owner: String) : Store {
    private val items = mutableListOf<Item>()

    fun add(item: Item, count: Int): Cart {
        for (i in 0 until count) {
            items.add(item)
        }
        return this
    }

    override fun load(id: String): Item? {
        return items.find { it.name == id.toLowerCase() }
    }

    fun total(): Double {
        var sum = 0.0
        items.forEach { item -> sum += item.price }
        return max(sum, 0.0)
    }

    companion object {
        const val LIMIT = 10
    }
}

fun describe(x: Any): String = when (x) {
    is Item -> x.name
    is String -> x.toUpperCase()
    else -> "unknown"
}

fun main() {
    val cart = Cart("me")
    cart.add(Item("a", 1.0), 2).add(Item("b", 2.0), 1)
    if (cart.total() > 3.0) println(describe(cart)) else println("small")
    println(listOf(1, 2, 3).map { it * 2 }.filter { it > 2 })
}
