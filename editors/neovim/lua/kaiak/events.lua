--- The server's stream notifications.
local M = {}

local kinds = { 'progress', 'ai_response', 'tool_call', 'thinking', 'user_interaction', 'file_modification', 'error', 'system' }

--- Told to whoever listens (the activity buffer, tests), in order.
M.listeners = {} --- @type fun(kind: string, params: table)[]

--- Passes the progress of a request on as Neovim's own LspProgress.
local function progress(client_id, request, value)
  local params = { token = request, value = value }
  local client = vim.lsp.get_client_by_id(client_id)
  if client and client.progress then
    client.progress:push(params)
  end
  vim.api.nvim_exec_autocmds('LspProgress', {
    pattern = value.kind,
    modeline = false,
    data = { client_id = client_id, params = params },
  })
end

local function hear(kind, params, client_id)
  local store = require('kaiak.store')
  local content = params.content or {}
  if kind == 'user_interaction' and content.interaction_type ~= 'approval' then
    table.insert(store.questions, { id = params.interaction_id, content = content })
    require('kaiak.interactions').tell()
  elseif kind == 'progress' then
    progress(client_id, params.request_id, { kind = 'report', title = 'Kaiak', message = content.description, percentage = content.percentage })
  elseif kind == 'system' then
    local event = content.event or ''
    if event == 'request_started' then
      progress(client_id, params.request_id, { kind = 'begin', title = 'Kaiak', percentage = 0 })
    elseif event == 'request_completed' then
      progress(client_id, params.request_id, { kind = 'end', title = 'Kaiak', message = content.status })
    end
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
    out['kaiak/stream/' .. kind] = function(_, params, ctx)
      hear(kind, params, ctx.client_id)
    end
  end
  return out
end

return M
