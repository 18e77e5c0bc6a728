--- :checkhealth kaiak
local M = {}

function M.check()
  local health = vim.health
  health.start('kaiak')
  if vim.fn.has('nvim-0.10') == 1 then
    health.ok('Neovim is 0.10 or later')
  else
    health.error('Neovim 0.10 or later is needed by the plugin', 'The bare server works from 0.7: see :help kaiak-bare')
    return
  end
  local cmd = require('kaiak.config').get().cmd
  if vim.fn.executable(cmd[1]) == 0 then
    health.error(('%s was not found'):format(cmd[1]), 'Put it on PATH, or name it: require("kaiak").setup({ cmd = { "/path/to/kaiak", "serve" } })')
  else
    local out = vim.system({ cmd[1], 'version' }, { text = true }):wait()
    health.ok(vim.split(out.stdout or cmd[1], '\n')[1])
  end
  local clients = vim.lsp.get_clients({ name = 'kaiak' })
  if #clients == 0 then
    health.info('No server runs: none of the buffers belongs to a project, or neither setup() nor vim.lsp.enable("kaiak") was called')
  end
  for _, client in ipairs(clients) do
    health.ok(('server %d runs in %s'):format(client.id, client.root_dir or client.config.root_dir or '?'))
  end
end

return M
