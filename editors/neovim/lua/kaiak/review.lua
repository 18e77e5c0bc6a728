--- Side by side: the file against the proposed text, in a tab of its own.
local store = require('kaiak.store')
local wire = require('kaiak.wire')

local M = {}

--- @param proposal table
--- @param file table
local function open(proposal, file)
  vim.cmd('tabnew ' .. vim.fn.fnameescape(vim.uri_to_fname(file.uri)))
  local left = vim.api.nvim_get_current_buf()
  vim.cmd('diffthis')
  vim.cmd('rightbelow vnew')
  local right = vim.api.nvim_get_current_buf()
  vim.bo[right].buftype = 'nofile'
  vim.bo[right].bufhidden = 'wipe'
  vim.bo[right].swapfile = false
  vim.api.nvim_buf_set_name(right, ('kaiak://%s/%s'):format(proposal.proposal_id, file.file_path))
  local text = (file.proposed_content or ''):gsub('\r\n', '\n'):gsub('^\239\187\191', '')
  vim.api.nvim_buf_set_lines(right, 0, -1, false, vim.split((text:gsub('\n$', '')), '\n', { plain = true }))
  vim.bo[right].filetype = vim.bo[left].filetype
  vim.bo[right].modifiable = false
  vim.b[right].kaiak_proposal = proposal.proposal_id
  vim.cmd('diffthis')
  local function close()
    if #vim.api.nvim_list_tabpages() > 1 then
      vim.cmd('tabclose')
    end
  end
  if require('kaiak.config').get().mappings then
    local function map(keys, fn, desc)
      vim.keymap.set('n', keys, fn, { buffer = right, desc = 'Kaiak: ' .. desc })
    end
    map('ga', function()
      close()
      store.apply(proposal)
    end, 'accept the proposal')
    map('gx', function()
      close()
      store.reject(proposal)
    end, 'reject the proposal')
    map('q', close, 'decide later')
  end
end

--- Shows a proposal (the first pending one when id is absent).
--- @param id string?
function M.show(id)
  local function go()
    local proposal = id and store.proposals[id] or store.list()[1]
    if not proposal then
      vim.notify('Kaiak: nothing waits for review.', vim.log.levels.INFO)
      return
    end
    wire.call('proposal/get', { proposal_id = proposal.proposal_id }, function(full)
      open(full, full.files[1])
    end)
  end
  if next(store.proposals) then
    go()
  else
    store.refresh(go)
  end
end

return M
