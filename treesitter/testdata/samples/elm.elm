module Main exposing (main)

import Html exposing (text)

-- entry point
main =
    text "Hello"
