-- Shared by the drive scripts: steps, and waiting for conditions.
local M = { failed = 0, passed = 0 }

local patience = 30000 -- ms; only a hang comes this far

--- Runs a step and prints how it went.
function M.step(name, fn)
  local ok, err = pcall(fn)
  if ok then
    M.passed = M.passed + 1
    io.stdout:write('ok    ' .. name .. '\n')
  else
    M.failed = M.failed + 1
    io.stdout:write('FAIL  ' .. name .. ': ' .. tostring(err) .. '\n')
  end
end

--- Waits until fn returns something true and returns it.
function M.await(what, fn)
  local value
  local ok = vim.wait(patience, function()
    value = fn()
    return value and true or false
  end, 5)
  if not ok then
    error('waited in vain for ' .. what, 2)
  end
  return value
end

function M.equal(got, want, what)
  if not vim.deep_equal(got, want) then
    error((what or 'value') .. ': got ' .. vim.inspect(got) .. ', want ' .. vim.inspect(want), 2)
  end
end

--- Ends Neovim with an exit code that says whether a step failed.
function M.finish()
  for _, client in pairs(vim.lsp.get_active_clients and vim.lsp.get_active_clients() or vim.lsp.get_clients()) do
    client.stop()
  end
  vim.wait(5000, function()
    return #(vim.lsp.get_active_clients and vim.lsp.get_active_clients() or vim.lsp.get_clients()) == 0
  end, 5)
  io.stdout:write(('%d passed, %d failed\n'):format(M.passed, M.failed))
  vim.cmd(M.failed > 0 and 'cquit 1' or 'qall!')
end

return M
