-- Configuration for vim.lsp.enable('kaiak') (Neovim 0.11 and later).
return require('kaiak.config').lsp()
