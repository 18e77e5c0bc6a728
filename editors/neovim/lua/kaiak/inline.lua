--- Pending changes in the buffer: what goes is struck through, what comes is
--- virtual text (virtual lines when it is more than one line).
local store = require('kaiak.store')

local M = {}
local ns = vim.api.nvim_create_namespace('kaiak.pending')

local function define_highlights()
  vim.api.nvim_set_hl(0, 'KaiakRemoved', { default = true, link = 'DiffDelete' })
  vim.api.nvim_set_hl(0, 'KaiakAdded', { default = true, link = 'DiffAdd' })
end

--- Shows pending changes whenever the buffer's text is the one they were made for.
--- @param buf integer
function M.attach(buf)
  define_highlights()
  vim.api.nvim_create_autocmd({ 'TextChanged', 'TextChangedI', 'BufEnter' }, {
    buffer = buf,
    group = vim.api.nvim_create_augroup('kaiak.inline.' .. buf, { clear = true }),
    callback = function()
      M.show(buf)
    end,
  })
  M.show(buf)
end

--- The buffer's bytes as they would be on disk.
--- @param buf integer
--- @return string
function M.text(buf)
  local eol = vim.bo[buf].fileformat == 'dos' and '\r\n' or vim.bo[buf].fileformat == 'mac' and '\r' or '\n'
  local text = table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, true), eol)
  if vim.bo[buf].endofline then
    text = text .. eol
  end
  return (vim.bo[buf].bomb and '\239\187\191' or '') .. text
end

--- Pending hunks of a buffer in the order of their lines. A proposal is made
--- for exact bytes: over any other text its ranges would point at the wrong place.
--- @param buf integer
--- @return { proposal: table, hunk: table }[]
function M.hunks(buf)
  local uri, text, out = vim.uri_from_bufnr(buf), nil, {}
  for _, proposal in ipairs(store.list()) do
    for _, file in ipairs(proposal.files or {}) do
      if file.uri == uri and file.change_type == 'edit' then
        text = text or vim.fn.sha256(M.text(buf))
        if text == file.base_sha256 then
          for _, hunk in ipairs(file.hunks) do
            -- What has no incident is upkeep (imports): it comes with the others.
            if #hunk.incident_ids > 0 and hunk.edits[1] then
              out[#out + 1] = { proposal = proposal, hunk = hunk }
            end
          end
        end
      end
    end
  end
  table.sort(out, function(a, b)
    local p, q = a.hunk.edits[1].range.start, b.hunk.edits[1].range.start
    return p.line < q.line or (p.line == q.line and p.character < q.character)
  end)
  return out
end

--- A wire position as a 0-based byte position of the buffer.
local function byte(buf, position)
  local line = vim.api.nvim_buf_get_lines(buf, position.line, position.line + 1, false)[1] or ''
  local ok, col = pcall(vim.str_byteindex, line, position.character, true)
  return position.line, ok and col or #line
end

--- @param buf integer? all buffers when absent
function M.show(buf)
  if not buf then
    for _, b in ipairs(vim.api.nvim_list_bufs()) do
      if vim.api.nvim_buf_is_loaded(b) and vim.bo[b].buftype == '' then
        M.show(b)
      end
    end
    return
  end
  vim.api.nvim_buf_clear_namespace(buf, ns, 0, -1)
  if not require('kaiak.config').get().virtual_text then
    return
  end
  local last = vim.api.nvim_buf_line_count(buf) - 1
  for _, item in ipairs(M.hunks(buf)) do
    for _, edit in ipairs(item.hunk.edits) do
      local row, col = byte(buf, edit.range.start)
      local end_row, end_col = byte(buf, edit.range['end'])
      row, end_row = math.min(row, last), math.min(end_row, last)
      if row ~= end_row or col ~= end_col then
        vim.api.nvim_buf_set_extmark(buf, ns, row, col, { end_row = end_row, end_col = end_col, hl_group = 'KaiakRemoved', strict = false })
      end
      local lines = vim.split((edit.new_text:gsub('\r', '')), '\n', { plain = true })
      if #lines == 1 and lines[1] ~= '' then
        vim.api.nvim_buf_set_extmark(buf, ns, end_row, end_col, { virt_text = { { lines[1], 'KaiakAdded' } }, virt_text_pos = 'inline', strict = false })
      elseif #lines > 1 then
        local virtual = {}
        for _, line in ipairs(lines) do
          virtual[#virtual + 1] = { { line, 'KaiakAdded' } }
        end
        vim.api.nvim_buf_set_extmark(buf, ns, end_row, 0, { virt_lines = virtual, strict = false })
      end
    end
  end
end

--- The hunk at the cursor's line, else the next one below, else the last.
function M.at_cursor()
  local hunks, line = M.hunks(vim.api.nvim_get_current_buf()), vim.api.nvim_win_get_cursor(0)[1] - 1
  for _, item in ipairs(hunks) do
    if item.hunk.edits[#item.hunk.edits].range['end'].line >= line then
      return item
    end
  end
  return hunks[#hunks]
end

--- Moves to the next (1) or previous (-1) pending hunk, around the end.
--- @param step integer
function M.go(step)
  local hunks, line = M.hunks(vim.api.nvim_get_current_buf()), vim.api.nvim_win_get_cursor(0)[1] - 1
  if #hunks == 0 then
    return
  end
  local target
  if step > 0 then
    for _, item in ipairs(hunks) do
      if item.hunk.edits[1].range.start.line > line then
        target = item
        break
      end
    end
    target = target or hunks[1]
  else
    for _, item in ipairs(hunks) do
      if item.hunk.edits[1].range.start.line < line then
        target = item
      end
    end
    target = target or hunks[#hunks]
  end
  local row, col = byte(0, target.hunk.edits[1].range.start)
  vim.api.nvim_win_set_cursor(0, { row + 1, col })
end

return M
