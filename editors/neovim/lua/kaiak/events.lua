--- The server's stream notifications.
local M = {}

local kinds = { 'progress', 'ai_response', 'tool_call', 'thinking', 'user_interaction', 'file_modification', 'error', 'system' }

--- Told to whoever listens (the activity buffer, tests), in order.
M.listeners = {} --- @type fun(kind: string, params: table)[]

local function hear(kind, params)
  local store = require('kaiak.store')
  local content = params.content or {}
  if kind == 'user_interaction' and content.interaction_type ~= 'approval' then
    table.insert(store.questions, { id = params.interaction_id, content = content })
    require('kaiak.interactions').tell()
  elseif kind == 'system' then
    local event = content.event or ''
    if event:find('^proposal_') or event == 'request_completed' then
      store.refresh()
    end
    if event:find('^interaction_') then
      require('kaiak.interactions').drop(content.interaction_id)
    end
    if event == 'request_completed' then
      require('kaiak.fix').completed(content)
    end
  elseif kind == 'error' then
    vim.notify('Kaiak: ' .. (content.message or ''), vim.log.levels.WARN)
  end
  for _, listener in ipairs(M.listeners) do
    listener(kind, params)
  end
end

--- Handlers for the language client.
--- @return table<string, function>
function M.handlers()
  local out = {}
  for _, kind in ipairs(kinds) do
    out['kaiak/stream/' .. kind] = function(_, params)
      hear(kind, params)
    end
  end
  return out
end

return M
