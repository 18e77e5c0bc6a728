defmodule Cart do
  # sums prices
  def total(prices) do
    Enum.reduce(prices, 0, fn p, acc -> p + acc end)
  end
end
