-- A second client: Neovim's own LSP client (0.7 and newer), headless, on the folder that VS Code worked on before.
-- Run by e2e.sh: nvim --headless -u NONE -i NONE -n -c "luafile check.lua"
local python, folder, results = os.getenv("E2E_PYTHON"), os.getenv("E2E_FOLDER"), os.getenv("E2E_RESULTS")
local number = tonumber(os.getenv("E2E_STEP") or "0")
local failed = false

local function report(line)
  io.stdout:write(line .. "\n")
  local file = assert(io.open(results, "a"))
  file:write(line .. "\n")
  file:close()
end

local function step(what, body)
  if failed then return end
  number = number + 1
  local fine, shown = pcall(body)
  if fine then
    report(("ok %d - %s%s"):format(number, what, shown and (": " .. tostring(shown):gsub("\n", "\\n")) or ""))
  else
    failed = true
    report(("not ok %d - %s: %s"):format(number, what, tostring(shown)))
  end
end

local function wait_for(what, question)
  local answer
  assert(vim.wait(30000, function() answer = question(); return answer end, 20), "waited 30 s in vain for " .. what)
  return answer
end

local id, client, buffer, document

local function request(method, parameters)
  local answer, problem = client.request_sync(method, parameters, 30000, buffer)
  assert(answer, problem)
  assert(not answer.err, vim.inspect(answer.err))
  return answer.result
end

local function command(name, argument)
  return request("workspace/executeCommand", { command = name, arguments = { argument } })
end

local function line_of(text)
  for number_of_line, line in ipairs(vim.api.nvim_buf_get_lines(buffer, 0, -1, false)) do
    local column = line:find(text, 1, true)
    if column then return number_of_line - 1, column - 1 end
  end
  error("no line holds " .. text)
end

step("Neovim starts the server", function()
  vim.cmd("edit " .. vim.fn.fnameescape(folder .. "/shop/payments.py"))
  buffer = vim.api.nvim_get_current_buf()
  vim.bo[buffer].filetype = "python"
  id = assert(vim.lsp.start_client({ name = "mnemolens", cmd = { python, "-m", "mnemolens", "serve" }, root_dir = folder }))
  vim.lsp.buf_attach_client(buffer, id)
  wait_for("the handshake", function() local c = vim.lsp.get_client_by_id(id); return c and c.initialized end)
  client = vim.lsp.get_client_by_id(id)
  document = vim.lsp.util.make_text_document_params(buffer)
  wait_for("the index", function()
    local status = command("mnemolens.status", vim.empty_dict())
    local indexing = status.folders[1] and status.folders[1].indexing
    return status.folders[1] and (indexing == nil or indexing == vim.NIL)  -- null, in old and new versions
  end)
end)

-- What a user presses K for: the floating window.
step("hover shows the memory that VS Code captured", function()
  local line, column = line_of("def charge")
  vim.api.nvim_win_set_cursor(0, { line + 1, column + 5 })
  vim.lsp.buf.hover()
  local text = wait_for("the floating window", function()
    for _, window in ipairs(vim.api.nvim_list_wins()) do
      if vim.api.nvim_win_get_config(window).relative ~= "" then
        return table.concat(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false), "\n")
      end
    end
  end)
  assert(text:find("one key for all attempts", 1, true), text)
  assert(not text:find("command:", 1, true), "command links, which Neovim did not ask for: " .. text)
  return text
end)

local function painted()
  local namespace = vim.api.nvim_get_namespaces()["vim_lsp_codelens:" .. id]
  local seen = {}
  if not namespace then return seen end
  for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buffer, namespace, 0, -1, { details = true })) do
    for _, chunk in ipairs(mark[4].virt_text or {}) do
      if chunk[1]:match("memor") then seen[#seen + 1] = (mark[2] + 1) .. ": " .. chunk[1] end
    end
  end
  return seen
end

step("the lens is painted on the function", function()
  vim.lsp.codelens.refresh()
  local line = line_of("def charge") + 1
  wait_for("the lens", function() return #painted() > 0 end)
  local seen = painted()
  assert(#seen == 1 and seen[1] == line .. ": 1 memory", vim.inspect(seen))
  return seen[1]
end)

step("executeCommand captures a memory at a position", function()
  local line, column = line_of("def refund")
  local result = command("mnemolens.memory.capture", {
    content = "Refunds over 500 EUR need a second pair of eyes.",
    uri = document.uri,
    position = { line = line, character = column + 5 },
  })
  assert(type(result.memory.id) == "string" and result.memory.content:find("second pair of eyes", 1, true))
  assert(result.links[1] and result.links[1].target.qualname == "refund", vim.inspect(result.links))
  return result.memory.id
end)

step("executeCommand lists it, and the lens is painted for it too", function()
  local line, column = line_of("def refund")
  local result = command("mnemolens.memory.list", { uri = document.uri, position = { line = line, character = column + 5 } })
  assert(result.total == 1 and result.memories[1].content:find("second pair of eyes", 1, true), vim.inspect(result))
  vim.lsp.codelens.refresh()
  wait_for("two lenses", function() return #painted() == 2 end)
end)

step("the server ends with the editor", function()
  client.stop()
  wait_for("the end of the server", function() return client.is_stopped() end)
end)

vim.cmd(failed and "cquit 1" or "qall!")
