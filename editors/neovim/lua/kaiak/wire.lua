--- Calls of the server's kaiak/* operations (docs/protocol.md).
local M = {}

--- The running client, or nil with a message to the user.
--- @return vim.lsp.Client?
function M.client()
  local buf = vim.api.nvim_get_current_buf()
  local own = vim.lsp.get_clients({ name = 'kaiak', bufnr = buf })[1]
  local client = own or vim.lsp.get_clients({ name = 'kaiak' })[1]
  if not client then
    vim.notify('Kaiak is not running here. Open a file of a project, or see :checkhealth kaiak.', vim.log.levels.WARN)
  end
  return client
end

--- Calls one operation. on_result gets the result; an error is told to the
--- user unless on_error takes it.
--- @param method string without the prefix, e.g. 'proposal/list'
--- @param params table
--- @param on_result fun(result: table)?
--- @param on_error fun(err: table)?
function M.call(method, params, on_result, on_error)
  local client = M.client()
  if not client then
    return
  end
  local function reply(err, result)
    if err then
      if on_error then
        on_error(err)
      else
        vim.notify('Kaiak: ' .. err.message, vim.log.levels.WARN)
      end
    elseif on_result then
      on_result(result)
    end
  end
  -- 0.11 made request a method that warns when it is called as a function.
  if vim.fn.has('nvim-0.11') == 1 then
    client:request('kaiak/' .. method, params, reply)
  else
    client.request('kaiak/' .. method, params, reply)
  end
end

--- The folder that the client works in.
--- @return string?
function M.root()
  local client = M.client()
  return client and (client.root_dir or client.config.root_dir)
end

return M
