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
  local items, root = {}, require('kaiak.wire').root()
  for _, p in ipairs(list) do
    local lines = {}
    for _, file in ipairs(p.files or {}) do
      local first = file.hunks[1] and file.hunks[1].edits[1]
      lines[file.file_path] = first and first.range.start.line + 1
    end
    for _, path in ipairs(p.file_paths) do
      items[#items + 1] = {
        filename = vim.fs.joinpath(root, path),
        lnum = lines[path] or 1,
        type = 'I',
        text = ('%s: %s (%s, %d %%)'):format(p.status, p.description, p.source, math.floor(p.confidence * 100 + 0.5)),
        user_data = p.proposal_id,
      }
    end
  end
  vim.fn.setqflist({}, ' ', { title = 'Kaiak proposals', items = items })
  vim.cmd(#items > 0 and 'copen' or 'cclose')
end

return M
