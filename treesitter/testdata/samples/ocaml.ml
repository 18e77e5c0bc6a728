(* a cart *)
type cart = { prices : int list }
let total c = List.fold_left (+) 0 c.prices
let () = print_int (total { prices = [1; 2] })
