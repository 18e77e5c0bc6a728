// a cart
class Cart {
    def prices = []
    def add(int p) {
        prices << p
    }
}
println("done")
