-- a cart
local Cart = {}
function Cart.total(prices)
  local t = 0
  for _, p in ipairs(prices) do t = t + p end
  return t
end
return Cart
