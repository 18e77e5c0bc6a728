-- The bare server, without the plugin, from Neovim 0.7: incidents are
-- diagnostics, fixes are code actions. Run with
--   nvim --headless -u NONE -i NONE -n Quick.java -c 'luafile …/bare.lua'
local here = debug.getinfo(1, 'S').source:sub(2):match('^(.*)/')
package.path = here .. '/?.lua;' .. package.path
local check = require('check')

local buf = vim.api.nvim_get_current_buf()
local asked = {}
vim.lsp.handlers['window/showMessageRequest'] = function(_, params)
  asked[#asked + 1] = params.message
  for _, action in ipairs(params.actions or {}) do
    if action.title == 'Apply' then
      return action
    end
  end
  return vim.NIL
end

local client_id = vim.lsp.start_client({
  name = 'kaiak',
  cmd = vim.split(os.getenv('KAIAK_SERVER'), ' '),
  root_dir = vim.fn.getcwd(),
})
vim.lsp.buf_attach_client(buf, client_id)

local function diagnostics()
  return vim.tbl_filter(function(d)
    return d.source == 'kaiak'
  end, vim.diagnostic.get(buf))
end

local function lsp_diagnostic(d)
  return d.user_data.lsp
    and {
      range = {
        start = { line = d.lnum, character = d.col },
        ['end'] = { line = d.end_lnum, character = d.end_col },
      },
      message = d.message,
      severity = d.severity,
      source = d.source,
      code = d.code or d.user_data.lsp.code,
    }
end

local function actions(d, only)
  local results = vim.lsp.buf_request_sync(buf, 'textDocument/codeAction', {
    textDocument = { uri = vim.uri_from_bufnr(buf) },
    range = { start = { line = d.lnum, character = d.col }, ['end'] = { line = d.end_lnum, character = d.end_col } },
    context = { diagnostics = { lsp_diagnostic(d) }, only = only },
  }, 10000)
  return results[client_id] and results[client_id].result or {}
end

local function text()
  return table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, true), '\n')
end

local function perform(action)
  if action.data and not action.edit and not action.command then
    local resolved = vim.lsp.buf_request_sync(buf, 'codeAction/resolve', action, 10000)
    action = resolved[client_id].result
  end
  if action.edit then
    vim.lsp.util.apply_workspace_edit(action.edit, vim.lsp.get_client_by_id(client_id).offset_encoding)
  end
  if action.command then
    vim.lsp.buf_request(buf, 'workspace/executeCommand', { command = action.command.command, arguments = action.command.arguments }, function() end)
  end
end

local before = text()

check.step('incidents are diagnostics', function()
  local list = check.await('diagnostics', function()
    local l = diagnostics()
    return #l > 0 and l
  end)
  check.equal(list[1].source, 'kaiak')
end)

check.step('a quick fix changes the line, and undo takes it back', function()
  local d = diagnostics()[1]
  local list = actions(d, { 'quickfix' })
  assert(#list > 0, 'no quick fix is offered')
  perform(list[1])
  check.await('the fixed line', function()
    return text() ~= before and text():find('jakarta', 1, true)
  end)
  check.await('one diagnostic less', function()
    return #diagnostics() >= 0 and not vim.tbl_contains(vim.tbl_map(function(x)
      return x.lnum
    end, diagnostics()), d.lnum)
  end)
  vim.cmd('undo')
  check.equal(text(), before, 'text after undo')
end)

check.step('everything in the file is fixed by one action', function()
  local d = check.await('diagnostics', function()
    return diagnostics()[1]
  end)
  local list = actions(d, { 'source.fixAll' })
  assert(#list > 0, 'no source.fixAll is offered')
  perform(list[1])
  check.await('no javax import', function()
    return not text():find('import javax%.inject') and text():find('import jakarta%.inject')
  end)
  check.await('no diagnostics', function()
    return #diagnostics() == 0
  end)
end)

check.finish()
