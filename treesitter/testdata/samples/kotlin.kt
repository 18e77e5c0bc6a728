package org.example.shop

import kotlin.math.max

// A cart.
class Cart(private val prices: MutableList<Int> = mutableListOf()) {
    fun add(p: Int) { prices.add(p) }
    fun total(): Int = prices.sum()
}

fun main() {
    println(max(1, Cart().total()))
}
