defmodule Shop.Cart do
  @moduledoc "A cart"
  alias Shop.Item

  defstruct owner: nil, items: []

  def new(owner), do: %__MODULE__{owner: owner}

  def add(%__MODULE__{items: items} = cart, %Item{} = item, count \\ 1) do
    added = for _ <- 1..count, do: item
    %{cart | items: items ++ added}
  end

  def total(%__MODULE__{items: items}) do
    items
    |> Enum.map(fn item -> item.price * 2 end)
    |> Enum.sum()
  end

  def describe(x) do
    case x do
      %Item{name: name} -> name
      s when is_binary(s) -> String.upcase(s)
      _ -> "unknown"
    end
  end

  defp log(message) do
    if Mix.env() == :dev do
      IO.puts("[info] #{message}")
    else
      :ok
    end
  end
end
