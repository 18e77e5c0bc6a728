using System;
using System.Collections.Generic;
using System.Linq;

namespace Shop
{
    public interface IStore
    {
        Item Load(string id);
    }

    public class Cart : IStore
    {
        private readonly List<Item> items = new List<Item>();
        public string Owner { get; set; }
        public const int Limit = 20;

        public Cart(string owner)
        {
            Owner = owner;
        }

        public Item Load(string id)
        {
            return items.FirstOrDefault(i => i.Name == id);
        }

        public Cart Add(Item item, int count = 1)
        {
            for (int i = 0; i < count; i++)
            {
                items.Add(item);
            }
            if (count > Limit)
            {
                throw new ArgumentException("too many: " + count);
            }
            return this;
        }

        public double Total()
        {
            double sum = 0;
            foreach (var item in items)
            {
                sum += item.Price * 2;
            }
            return sum;
        }

        public static void Main(string[] args)
        {
            var cart = new Cart("me");
            try
            {
                cart.Add(new Item("a", 1), 2).Add(new Item("b", 2));
                Console.WriteLine(cart.Total() > 3 ? "large" : "small");
            }
            catch (Exception e)
            {
                Console.WriteLine(e.Message);
            }
        }
    }
}
