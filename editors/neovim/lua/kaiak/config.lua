--- Settings, and the client configuration made from them.
local M = {}

--- @class kaiak.Config
--- @field cmd string[]            the server; default { 'kaiak', 'serve' }
--- @field settings table          the server's own keys, as in .kaiak/config.yaml
--- @field engines string[]        who fixes: { 'recipe' } or { 'recipe', 'model' }
--- @field virtual_text boolean    show pending changes in the buffer
--- @field mappings boolean        map keys in the review of a proposal

--- @type kaiak.Config
local current = {
  cmd = { 'kaiak', 'serve' },
  settings = {},
  engines = { 'recipe' },
  virtual_text = true,
  mappings = true,
}

--- @param opts table
function M.set(opts)
  for key in pairs(opts) do
    if current[key] == nil then
      error(("kaiak: there is no setting %q; see :help kaiak-setup"):format(key))
    end
  end
  current = vim.tbl_deep_extend('force', current, opts)
end

--- @return kaiak.Config
function M.get()
  return current
end

--- The configuration of the language client.
--- @return table
function M.lsp()
  local capabilities = vim.lsp.protocol.make_client_capabilities()
  capabilities.experimental = vim.tbl_extend('force', capabilities.experimental or {}, { kaiak = { interactive = true } })
  return {
    cmd = current.cmd,
    root_markers = { '.kaiak', '.git', 'pom.xml', 'build.gradle', 'go.mod', 'package.json', 'pyproject.toml' },
    init_options = next(current.settings) and current.settings or nil,
    capabilities = capabilities,
    handlers = require('kaiak.events').handlers(),
    on_attach = function(client, buf)
      require('kaiak.inline').attach(buf)
      require('kaiak.store').attach(client)
    end,
  }
end

return M
