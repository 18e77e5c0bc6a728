--- :Kaiak and its subcommands.
local M = {}

local function fix() return require('kaiak.fix') end
local function store() return require('kaiak.store') end
local function inline() return require('kaiak.inline') end

local function hunk(action)
  local item = inline().at_cursor()
  if item then
    store()[action](item.proposal, { item.hunk.index })
  else
    vim.notify('Kaiak: no pending change here.', vim.log.levels.INFO)
  end
end

local function file_hunks(action)
  local by = {}
  for _, item in ipairs(inline().hunks(vim.api.nvim_get_current_buf())) do
    local id = item.proposal.proposal_id
    by[id] = by[id] or { proposal = item.proposal, hunks = {} }
    table.insert(by[id].hunks, item.hunk.index)
  end
  for _, entry in pairs(by) do
    local own = 0
    for _, file in ipairs(entry.proposal.files) do
      for _, h in ipairs(file.hunks) do
        own = own + (#h.incident_ids > 0 and 1 or 0)
      end
    end
    store()[action](entry.proposal, #entry.hunks < own and entry.hunks or nil)
  end
end

local function each(action)
  for _, p in ipairs(store().list()) do
    store()[action](p)
  end
end

--- Subcommands: what they do, and what may follow.
--- @type table<string, { desc: string, run: fun(rest: string[], bang: boolean), complete: (fun(): string[])? }>
local commands = {
  scan = {
    desc = 'find incidents in the whole workspace',
    run = function()
      local wire = require('kaiak.wire')
      wire.call('incident/scan', { workspace_path = wire.root() }, function()
        fix().incidents(nil, require('kaiak.lists').incidents)
      end)
    end,
  },
  incidents = {
    desc = 'incidents in the quickfix list: of the workspace, or with "file" of this file',
    run = function(rest)
      fix().incidents(rest[1] == 'file' and fix().of_file() or nil, require('kaiak.lists').incidents)
    end,
    complete = function() return { 'file' } end,
  },
  ingest = {
    desc = 'load a SARIF or Konveyor file',
    run = function(rest)
      local wire = require('kaiak.wire')
      wire.call('incident/ingest', { workspace_path = wire.root(), file_path = vim.fn.fnamemodify(rest[1] or '', ':p') }, function(result)
        vim.notify(('Kaiak: %d incidents loaded'):format(result.count), vim.log.levels.INFO)
      end)
    end,
    complete = function() return vim.fn.getcompletion('', 'file') end,
  },
  fix = {
    desc = 'propose fixes: of this line, or of "file", "rule ID", "workspace"',
    run = function(rest)
      local keep
      if rest[1] == 'file' then
        keep = fix().of_file()
      elseif rest[1] == 'rule' then
        keep = fix().of_rule(rest[2])
      elseif rest[1] ~= 'workspace' then
        keep = fix().of_line()
      end
      fix().incidents(keep, fix().generate)
    end,
    complete = function() return { 'file', 'rule', 'workspace' } end,
  },
  proposals = {
    desc = 'proposals in the quickfix list, those that wait for review or of a state',
    run = function(rest)
      store().refresh(function()
        require('kaiak.lists').proposals(store().list(rest[1]))
      end)
    end,
    complete = function() return { 'pending', 'applied', 'rejected', 'stale', 'reverted' } end,
  },
  review = {
    desc = 'show a proposal side by side',
    run = function(rest) require('kaiak.review').show(rest[1]) end,
    complete = function() return vim.tbl_keys(store().proposals) end,
  },
  accept = {
    desc = 'accept the change at the cursor, or "file", or "all"',
    run = function(rest)
      if rest[1] == 'all' then each('apply') elseif rest[1] == 'file' then file_hunks('apply') else hunk('apply') end
    end,
    complete = function() return { 'file', 'all' } end,
  },
  reject = {
    desc = 'reject the change at the cursor, or "file", or "all"',
    run = function(rest)
      if rest[1] == 'all' then each('reject') elseif rest[1] == 'file' then file_hunks('reject') else hunk('reject') end
    end,
    complete = function() return { 'file', 'all' } end,
  },
  refine = {
    desc = 'ask for a better proposal in place of the one at the cursor',
    run = function(rest)
      local item = inline().at_cursor()
      if item and #rest > 0 then
        require('kaiak.wire').call('proposal/refine', { proposal_id = item.proposal.proposal_id, comment = table.concat(rest, ' ') })
      end
    end,
  },
  undo = {
    desc = 'take an applied proposal back',
    run = function(rest)
      local applied = vim.list_extend(store().list('applied'), store().list('applied_unsaved'))
      local function revert(p)
        if not p then return end
        require('kaiak.wire').call('proposal/revert', { proposal_id = p.proposal_id }, function()
          vim.cmd.checktime()
          store().refresh()
        end)
      end
      if rest[1] then
        revert(store().proposals[rest[1]])
      else
        vim.ui.select(applied, { prompt = 'Undo', format_item = function(p) return p.description end }, revert)
      end
    end,
  },
  next = { desc = 'go to the next pending change', run = function() inline().go(1) end },
  previous = { desc = 'go to the previous pending change', run = function() inline().go(-1) end },
  answer = { desc = "answer the agent's question", run = function() require('kaiak.interactions').answer() end },
  cancel = { desc = 'cancel what runs', run = function() fix().cancel() end },
}

local function names()
  local out = vim.tbl_keys(commands)
  table.sort(out)
  return out
end

--- @param args table of nvim_create_user_command
function M.run(args)
  local rest = vim.list_slice(args.fargs, 2)
  local command = commands[args.fargs[1] or 'incidents']
  if not command then
    vim.notify(('Kaiak: there is no :Kaiak %s; try %s'):format(args.fargs[1], table.concat(names(), ', ')), vim.log.levels.ERROR)
    return
  end
  command.run(rest, args.bang)
end

--- @param lead string
--- @param line string
--- @return string[]
function M.complete(lead, line)
  local words = vim.split(line, '%s+', { trimempty = true })
  local candidates
  if #words <= 1 or (#words == 2 and lead ~= '') then
    candidates = names()
  else
    local command = commands[words[2]]
    candidates = command and command.complete and command.complete() or {}
  end
  return vim.tbl_filter(function(c)
    return vim.startswith(c, lead)
  end, candidates)
end

--- Names and descriptions, for the help test.
function M.describe()
  local out = {}
  for _, name in ipairs(names()) do
    out[#out + 1] = { name = name, desc = commands[name].desc }
  end
  return out
end

return M
