--- Kaiak for Neovim: incidents of a migration, and proposals that wait for
--- review. Call setup() once, or use vim.lsp.enable('kaiak') with the defaults.
local M = {}

--- Starts the server for every buffer of a project.
--- @param opts kaiak.Config?
function M.setup(opts)
  local config = require('kaiak.config')
  config.set(opts or {})
  local group = vim.api.nvim_create_augroup('kaiak', { clear = true })
  vim.api.nvim_create_autocmd('FileType', {
    group = group,
    callback = function(event)
      M.attach(event.buf)
    end,
  })
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buf) then
      M.attach(buf)
    end
  end
end

--- Attaches the server to a buffer that shows a file; others are left alone.
--- @param buf integer
--- @return integer? client_id
function M.attach(buf)
  if vim.bo[buf].buftype ~= '' or vim.api.nvim_buf_get_name(buf) == '' then
    return nil
  end
  local lsp = require('kaiak.config').lsp()
  return vim.lsp.start({
    name = 'kaiak',
    cmd = lsp.cmd,
    handlers = lsp.handlers,
    on_attach = lsp.on_attach,
    capabilities = lsp.capabilities,
    init_options = lsp.init_options,
    root_dir = vim.fs.root(buf, lsp.root_markers) or vim.fs.dirname(vim.api.nvim_buf_get_name(buf)),
  }, { bufnr = buf })
end

return M
