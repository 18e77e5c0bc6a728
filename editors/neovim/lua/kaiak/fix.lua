--- Asking for fixes: of the cursor, the file, a rule, the workspace.
local wire = require('kaiak.wire')
local store = require('kaiak.store')

local M = { running = {} } --- requests that run, by id

--- Incidents per request; the contract's limit.
local page = 1000

--- @param list table[] incidents
function M.generate(list)
  if #list == 0 then
    vim.notify('Kaiak: there is no incident to fix here.', vim.log.levels.INFO)
    return
  end
  store.with_session(function(session)
    for first = 1, #list, page do
      local ids = {}
      for i = first, math.min(first + page - 1, #list) do
        ids[#ids + 1] = { id = list[i].id }
      end
      wire.call('fix/generate', {
        session_id = session,
        incidents = ids,
        approval = 'defer',
        engines = require('kaiak.config').get().engines,
      }, function(result)
        if not M.running[result.request_id] then
          M.running[result.request_id] = #ids
        end
      end)
    end
  end)
end

--- A request ended: say what there is to review, or why there is nothing.
--- @param content table of the system event
function M.completed(content)
  M.running[content.request_id] = nil
  local summary = content.summary or {}
  local n = summary.proposals_generated or 0
  if n > 0 then
    vim.notify(('Kaiak: %d proposal%s to review (:Kaiak review)'):format(n, n == 1 and '' or 's'), vim.log.levels.INFO)
    return
  end
  for _, row in ipairs(content.results or {}) do
    if row.reason and row.reason ~= '' then
      vim.notify('Kaiak made no change: ' .. row.reason, vim.log.levels.INFO)
      return
    end
  end
end

--- Runs fn with every incident that keep accepts, over all pages.
--- @param keep (fun(incident: table): boolean)?
--- @param fn fun(list: table[])
function M.incidents(keep, fn)
  local out = {}
  local function more(cursor)
    wire.call('incident/list', { workspace_path = wire.root(), limit = page, cursor = cursor }, function(result)
      for _, incident in ipairs(result.incidents or {}) do
        if not keep or keep(incident) then
          out[#out + 1] = incident
        end
      end
      if result.cursor then
        more(result.cursor)
      else
        fn(out)
      end
    end)
  end
  more(nil)
end

--- Keeps the incidents of the current buffer's file.
function M.of_file()
  local uri = vim.uri_from_bufnr(0)
  return function(incident)
    return incident.uri == uri
  end
end

--- Keeps the incidents of the cursor's line.
function M.of_line()
  local own, line = M.of_file(), vim.api.nvim_win_get_cursor(0)[1]
  return function(incident)
    return own(incident) and incident.line_number == line
  end
end

--- @param rule string
function M.of_rule(rule)
  return function(incident)
    return incident.rule_id == rule
  end
end

--- Cancels what runs.
function M.cancel()
  for id in pairs(M.running) do
    wire.call('fix/cancel', { request_id = id })
  end
end

return M
