#include <memory>
#include <string>
#include <vector>

namespace shop {

struct Item {
    std::string name;
    double price = 0;
};

class Cart {
public:
    explicit Cart(std::string owner) : owner_(std::move(owner)) {}

    Cart &add(const Item &item, int count) {
        for (int i = 0; i < count; ++i) {
            items_.push_back(item);
        }
        return *this;
    }

    double total() const {
        double sum = 0;
        for (const auto &item : items_) {
            sum += item.price;
        }
        return sum;
    }

    template <typename F>
    void each(F f) const {
        for (auto it = items_.begin(); it != items_.end(); ++it) f(*it);
    }

private:
    std::string owner_;
    std::vector<Item> items_;
};

}

int main() {
    auto cart = std::make_unique<shop::Cart>("me");
    cart->add(shop::Item{"a", 1.0}, 2).add({"b", 2.0}, 1);
    cart->each([](const shop::Item &i) { printf("%s\n", i.name.c_str()); });
    if (cart->total() > 3 && cart != nullptr) {
        return static_cast<int>(cart->total());
    } else {
        throw std::runtime_error("small");
    }
}
