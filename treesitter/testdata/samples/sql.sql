-- totals
SELECT c.id, SUM(p.price) AS total
FROM carts c
JOIN prices p ON p.cart_id = c.id
WHERE c.owner = 'me'
GROUP BY c.id;
