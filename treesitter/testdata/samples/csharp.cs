using System;
using Col = System.Collections.Generic;
namespace Shop
{
    /// <summary>A cart.</summary>
    public class Cart
    {
        private readonly Col.List<int> prices = new();
        public int Total { get; private set; }
        public void Add(int price) { prices.Add(price); Total += price; }
    }
}
