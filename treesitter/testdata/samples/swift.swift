import Foundation
// A cart.
struct Cart {
    var prices: [Int] = []
    func total() -> Int { return prices.reduce(0, +) }
}
let c = Cart(prices: [1, 2])
print(c.total())
