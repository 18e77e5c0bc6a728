#include <vector>
namespace shop {
// A cart of prices.
class Cart {
 public:
  void add(int price) { prices.push_back(price); }
  int total() const;
 private:
  std::vector<int> prices;
};
int Cart::total() const {
  int t = 0;
  for (auto p : prices) t += p;
  return t;
}
}  // namespace shop
