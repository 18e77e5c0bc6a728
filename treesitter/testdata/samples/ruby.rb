require "json"
# a cart
module Shop
  class Cart
    attr_reader :prices
    def initialize(prices) = @prices = prices
    def total
      prices.sum { |p| p }
    end
  end
end
