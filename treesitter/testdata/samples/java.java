package org.example.shop;

import java.util.List;
import static java.util.Objects.requireNonNull;

/** A cart. */
@Deprecated
public class Cart<T extends Number> {
    private List<T> prices; // in cents

    public Cart(List<T> prices) { this.prices = requireNonNull(prices); }

    public int total() {
        return prices.stream().mapToInt(p -> p.intValue()).sum();
    }
}
