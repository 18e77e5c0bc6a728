if vim.g.loaded_kaiak then
  return
end
vim.g.loaded_kaiak = true

if vim.fn.has('nvim-0.10') == 0 then
  -- The bare server works from 0.7 with vim.lsp.start_client; this plugin does not.
  return
end

vim.api.nvim_create_user_command('Kaiak', function(args)
  require('kaiak.command').run(args)
end, {
  nargs = '*',
  bang = true,
  desc = 'Kaiak: find, review and fix what a migration has to change',
  complete = function(lead, line)
    return require('kaiak.command').complete(lead, line)
  end,
})
