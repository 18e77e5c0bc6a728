--- What the server told: proposals and open questions. Only the server changes
--- them; here they are remembered for the views.
local wire = require('kaiak.wire')

local M = {
  proposals = {}, --- @type table<string, table> by proposal_id
  questions = {}, --- @type table[] oldest first
  session = nil, --- @type string?
}

local waiting = nil --- @type fun(id: string)[]?

--- Runs fn with the session of this Neovim; creates it with the first call.
--- @param fn fun(session_id: string)
function M.with_session(fn)
  if M.session then
    return fn(M.session)
  end
  if waiting then
    waiting[#waiting + 1] = fn
    return
  end
  waiting = { fn }
  local function done(result)
    M.session = result.session_id
    local list = waiting or {}
    waiting = nil
    for _, f in ipairs(list) do
      f(M.session)
    end
  end
  local function failed(err)
    waiting = nil
    vim.notify('Kaiak: ' .. err.message, vim.log.levels.WARN)
  end
  wire.call('session/create', { workspace_path = wire.root(), session_name = 'Neovim ' .. os.date('%F %R') }, done, failed)
end

--- Takes up the latest session of the folder that has something pending, so
--- that a proposal survives closing the editor.
--- @param client vim.lsp.Client
function M.attach(client)
  if M.asked then
    return
  end
  M.asked = true
  local root = client.root_dir or client.config.root_dir
  local function quiet() end
  wire.call('session/list', { workspace_path = root, limit = 10 }, function(result)
    local function try(i)
      local s = result.sessions[i]
      if not s or M.session then
        return
      end
      wire.call('proposal/list', { session_id = s.session_id, status = 'pending', limit = 1 }, function(page)
        if #page.proposals == 0 then
          return try(i + 1)
        end
        wire.call('session/resume', { session_id = s.session_id }, function()
          M.session = M.session or s.session_id
          M.refresh()
        end, quiet)
      end, quiet)
    end
    try(1)
  end, quiet)
end

--- Reads the session's proposals again, then calls fn. What waits for review is
--- read with its files, because it is shown in the buffers.
--- @param fn fun()?
function M.refresh(fn)
  if not M.session then
    return fn and fn()
  end
  local found, open = {}, 1
  local function done()
    open = open - 1
    if open > 0 then
      return
    end
    M.proposals = found
    require('kaiak.inline').show()
    if fn then
      fn()
    end
  end
  local function page(cursor)
    wire.call('proposal/list', { session_id = M.session, limit = 1000, cursor = cursor }, function(result)
      for _, p in ipairs(result.proposals) do
        found[p.proposal_id] = p
        if p.status == 'pending' then
          open = open + 1
          wire.call('proposal/get', { proposal_id = p.proposal_id }, function(full)
            found[p.proposal_id] = full
            done()
          end, done)
        end
      end
      if result.cursor then
        page(result.cursor)
      else
        done()
      end
    end)
  end
  page(nil)
end

--- Proposals in the given state ('pending' by default), by their description.
--- @param state string?
--- @return table[]
function M.list(state)
  local out = {}
  for _, p in pairs(M.proposals) do
    if p.status == (state or 'pending') then
      out[#out + 1] = p
    end
  end
  table.sort(out, function(a, b)
    if a.description ~= b.description then
      return a.description < b.description
    end
    return a.proposal_id < b.proposal_id
  end)
  return out
end

--- Applies a proposal, or some of its hunks. The approval names the exact bytes.
--- @param proposal table
--- @param hunks integer[]?
function M.apply(proposal, hunks)
  local files = {}
  for _, f in ipairs(proposal.files or {}) do
    files[#files + 1] = {
      file_path = f.file_path,
      base_sha256 = f.base_sha256,
      -- Of some hunks the outcome is another text than the proposed one.
      proposed_sha256 = not hunks and f.proposed_sha256 or nil,
    }
  end
  wire.call('proposal/apply', {
    proposal_id = proposal.proposal_id,
    files = files,
    hunks = hunks,
    rest = hunks and 'keep' or nil,
  }, function()
    vim.cmd.checktime()
    M.refresh()
  end, function(err)
    vim.notify('Kaiak: ' .. err.message, vim.log.levels.WARN)
    M.refresh()
  end)
end

--- @param proposal table
--- @param hunks integer[]?
function M.reject(proposal, hunks)
  wire.call('proposal/reject', { proposal_id = proposal.proposal_id, hunks = hunks }, function()
    M.refresh()
  end)
end

return M
