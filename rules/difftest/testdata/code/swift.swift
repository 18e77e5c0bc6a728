import Foundation

protocol Store {
    func load(id: String) -> Item?
}

struct Item {
    let name: String
    var price: Double
}

class Cart: Store {
    private var items: [Item] = []
    let owner: String

    init(owner: String) {
        self.owner = owner
    }

    func add(_ item: Item, count: Int) -> Cart {
        for _ in 0..<count {
            items.append(item)
        }
        return self
    }

    func load(id: String) -> Item? {
        guard let found = items.first(where: { $0.name == id }) else {
            return nil
        }
        return found
    }

    func total() -> Double {
        var sum = 0.0
        for item in items {
            sum += item.price
        }
        return sum
    }
}

let cart = Cart(owner: "me")
_ = cart.add(Item(name: "a", price: 1.0), count: 2)
if cart.total() > 3 {
    print("large", cart.owner)
} else {
    print("small")
}
