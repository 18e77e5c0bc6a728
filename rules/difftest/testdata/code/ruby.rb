require 'json'
require_relative 'item'

module Shop
  class Cart
    attr_reader :items, :owner
    LIMIT = 20

    def initialize(owner, items = [])
      @owner = owner
      @items = items
    end

    def add(item, count: 1)
      raise ArgumentError, "too many: #{count}" if count > LIMIT
      count.times { |i| @items << item.with(index: i) }
      self
    end

    def total
      @items.map { |i| i.price * 2 }.reduce(0, :+)
    end

    def save(path)
      File.open(path, 'w') do |f|
        f.puts JSON.dump(items: @items.map(&:to_h), owner: @owner)
      end
    rescue IOError => e
      warn e.message
      nil
    ensure
      @items.freeze
    end

    def self.load(path)
      return new('nobody') unless File.exists?(path)
      data = JSON.parse(File.read(path))
      case data['kind']
      when 'small', 'tiny' then new(data['owner'])
      else new(data['owner'], data['items'])
      end
    end
  end
end

cart = Shop::Cart.new('me')
cart.add(Item.new('a', 1)) && cart.add(Item.new('b', 2), count: 3)
puts cart.total if cart.items.any? { |x| x.price > 1 }
