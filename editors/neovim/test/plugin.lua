-- The plugin, in Neovim 0.10 and later. Run with
--   nvim --headless -u NONE -i NONE -n Review.java -c 'luafile …/plugin.lua'
local here = debug.getinfo(1, 'S').source:sub(2):match('^(.*)/')
package.path = here .. '/?.lua;' .. package.path
local check = require('check')
local root = vim.fn.fnamemodify(here, ':h')

vim.opt.runtimepath:prepend(root)
vim.cmd('runtime plugin/kaiak.lua')

local messages = {}
vim.notify = function(message)
  messages[#messages + 1] = message
end

local kaiak = require('kaiak')
kaiak.setup({ cmd = vim.split(os.getenv('KAIAK_SERVER'), ' ') })
local progress = {}
vim.api.nvim_create_autocmd('LspProgress', {
  callback = function(event)
    progress[event.data.params.value.kind] = true
  end,
})
local store, inline = require('kaiak.store'), require('kaiak.inline')
local buf = vim.api.nvim_get_current_buf()

local function text()
  return table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, true), '\n')
end

local function on_disk()
  return table.concat(vim.fn.readfile(vim.api.nvim_buf_get_name(buf)), '\n')
end

check.step('the server attaches and finds incidents', function()
  if not vim.lsp.get_clients({ name = 'kaiak', bufnr = buf })[1] then
    kaiak.attach(buf)
  end
  check.await('diagnostics', function()
    return #vim.tbl_filter(function(d)
      return d.source == 'kaiak'
    end, vim.diagnostic.get(buf)) >= 3
  end)
end)

check.step('incidents come into the quickfix list', function()
  vim.cmd('Kaiak incidents file')
  check.await('the quickfix list', function()
    return vim.fn.getqflist({ title = 1 }).title == 'Kaiak incidents' and #vim.fn.getqflist() >= 3
  end)
  vim.cmd('cclose')
end)

check.step('a fix is proposed and nothing is written', function()
  local before = text()
  vim.cmd('Kaiak fix file')
  check.await('pending changes', function()
    return #inline.hunks(buf) >= 3
  end)
  check.await('LspProgress of the request', function()
    return progress.begin and progress['end']
  end)
  check.equal(text(), before, 'buffer')
  check.equal(on_disk(), before, 'file')
  local marks = vim.api.nvim_buf_get_extmarks(buf, vim.api.nvim_get_namespaces()['kaiak.pending'], 0, -1, {})
  assert(#marks >= 3, 'the pending changes are not shown')
end)

check.step('the review shows both sides', function()
  local id = store.list()[1].proposal_id
  vim.cmd('Kaiak review ' .. id)
  check.await('the proposed side', function()
    return vim.b.kaiak_proposal == id
  end)
  local proposed = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), '\n')
  assert(proposed:find('jakarta', 1, true), proposed)
  assert(vim.wo.diff, 'not in diff mode')
  vim.cmd('tabclose')
end)

check.step('one change of several is accepted', function()
  vim.api.nvim_set_current_buf(buf)
  vim.api.nvim_win_set_cursor(0, { 1, 0 })
  vim.cmd('Kaiak next')
  vim.cmd('Kaiak accept')
  check.await('one jakarta import', function()
    local _, n = text():gsub('import jakarta', '')
    return n == 1
  end)
end)

check.step('an accepted proposal is undone', function()
  check.await('an applied proposal', function()
    return store.list('applied')[1] or store.list('applied_unsaved')[1]
  end)
  vim.ui.select = function(items, _, on_choice)
    on_choice(items[1])
  end
  vim.cmd('Kaiak undo')
  check.await('no jakarta import', function()
    return not text():find('import jakarta', 1, true)
  end)
end)

check.step('checkhealth finds the server', function()
  vim.cmd('checkhealth kaiak')
  local report = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), '\n')
  assert(report:find('OK', 1, true) and report:find('runs in', 1, true), report)
  assert(not report:find('ERROR', 1, true), report)
end)

check.step('every subcommand is completed and in the help file', function()
  local help = table.concat(vim.fn.readfile(root .. '/doc/kaiak.txt'), '\n')
  local completed = vim.fn.getcompletion('Kaiak ', 'cmdline')
  for _, command in ipairs(require('kaiak.command').describe()) do
    assert(vim.tbl_contains(completed, command.name), command.name .. ' is not completed')
    assert(help:find(':Kaiak ' .. command.name, 1, true), command.name .. ' is not in the help file')
  end
end)

check.finish()
