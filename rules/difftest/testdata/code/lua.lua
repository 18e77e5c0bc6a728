local json = require("json")
local Cart = {}
Cart.__index = Cart

function Cart.new(owner, items)
  local self = setmetatable({}, Cart)
  self.owner = owner
  self.items = items or {}
  return self
end

function Cart:add(item, count)
  count = count or 1
  for i = 1, count do
    table.insert(self.items, item)
  end
  return self
end

function Cart:total()
  local sum = 0
  for _, item in ipairs(self.items) do
    if item.price > 0 then
      sum = sum + item.price * 2
    elseif item.free then
      print("free", item.name)
    else
      error("no price: " .. item.name)
    end
  end
  return sum
end

local cart = Cart.new("me")
cart:add({ name = "a", price = 1 }):add({ name = "b", price = 2 }, 3)
while #cart.items > 2 do
  table.remove(cart.items)
end
print(cart:total(), json.encode(cart.items), table.getn(cart.items))
local function twice(f, x) return f(f(x)) end
print(twice(function(y) return y + 1 end, 2))
