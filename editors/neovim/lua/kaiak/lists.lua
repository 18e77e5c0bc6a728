--- Incidents and proposals in the quickfix list.
local M = {}

local types = { error = 'E', warning = 'W', info = 'I', hint = 'N' }

--- @param list table[] incidents
function M.incidents(list)
  local items = {}
  for _, incident in ipairs(list) do
    local start = incident.range and incident.range.start
    items[#items + 1] = {
      filename = incident.uri and vim.uri_to_fname(incident.uri) or incident.file_path,
      lnum = math.max(incident.line_number, 1),
      col = start and start.character + 1 or 1,
      type = types[incident.severity] or 'I',
      text = ('%s [%s]'):format((incident.message or ''):match('^[^\n]*'), incident.rule_id),
      user_data = incident.id,
    }
  end
  vim.fn.setqflist({}, ' ', { title = 'Kaiak incidents', items = items })
  vim.cmd(#items > 0 and 'copen' or 'cclose')
end

--- @param list table[] proposals
function M.proposals(list)
  local items = {}
  for _, p in ipairs(list) do
    for _, file in ipairs(p.files) do
      local line = 1
      for _, hunk in ipairs(p.hunks) do
        if hunk.file_path == file.file_path and hunk.edits[1] then
          line = hunk.edits[1].range.start.line + 1
          break
        end
      end
      items[#items + 1] = {
        filename = vim.uri_to_fname(file.uri),
        lnum = line,
        type = 'I',
        text = ('%s: %s (%s, %d %%)'):format(p.state, p.description, p.source, math.floor(p.confidence * 100 + 0.5)),
        user_data = p.proposal_id,
      }
    end
  end
  vim.fn.setqflist({}, ' ', { title = 'Kaiak proposals', items = items })
  vim.cmd(#items > 0 and 'copen' or 'cclose')
end

return M
