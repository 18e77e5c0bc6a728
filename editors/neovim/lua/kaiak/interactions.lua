--- The agent's questions, through vim.ui. They are told of, and asked when the
--- user says so (:Kaiak answer).
local store = require('kaiak.store')
local wire = require('kaiak.wire')

local M = {}

function M.tell()
  local q = store.questions[#store.questions]
  if q then
    vim.notify('Kaiak asks: ' .. q.content.prompt .. '  (:Kaiak answer)', vim.log.levels.INFO)
  end
end

--- @param id string?
function M.drop(id)
  for i, q in ipairs(store.questions) do
    if q.id == id then
      table.remove(store.questions, i)
      return
    end
  end
end

local function respond(question, data)
  wire.call('interaction/respond', {
    interaction_id = question.id,
    response_type = question.content.interaction_type,
    response_data = data,
  }, function()
    M.drop(question.id)
  end)
end

--- Asks the oldest open question. A dismissed one stays open.
function M.answer()
  local q = store.questions[1]
  if not q then
    vim.notify('Kaiak: there is nothing to answer.', vim.log.levels.INFO)
    return
  end
  local kind = q.content.interaction_type
  if kind == 'choice' then
    vim.ui.select(q.content.choices or {}, { prompt = q.content.prompt }, function(choice)
      if choice then
        respond(q, { choice = choice })
      end
    end)
  elseif kind == 'input' then
    vim.ui.input({ prompt = q.content.prompt .. ' ' }, function(input)
      if input then
        respond(q, { input = input })
      end
    end)
  else
    vim.ui.select({ 'Yes', 'No' }, { prompt = q.content.prompt }, function(choice)
      if choice then
        respond(q, { confirmed = choice == 'Yes' })
      end
    end)
  end
end

return M
